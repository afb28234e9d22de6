import { Empty, Loading, Section, Trouble } from '../../components/basics';
import { get } from '../../lib/api';
import { number } from '../../lib/format';
import { t } from '../../lib/i18n';
import { useResource } from '../../lib/resource';
import type { ConfigOption } from '../../lib/types';
import { param, setParams } from '../../lib/url';

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

export function matches(option: ConfigOption, filter: string): boolean {
  const wanted = filter.trim().toLowerCase();
  return [option.name, textOf(option.value), option.source, option.says ?? ''].some(text => text.toLowerCase().includes(wanted));
}

const isDefault = (option: ConfigOption) => option.source.startsWith('default');

export function Config() {
  const list = useResource('config', signal => get<{ options: ConfigOption[] }>('v1/config', {}, signal));
  const filter = param('filter');
  const changed = param('changed') !== '';
  const all = list.data.value?.options;
  const shown = all?.filter(option => matches(option, filter) && (!changed || !isDefault(option))) ?? [];
  return (
    <Section
      title={t('system.config')}
      actions={
        <>
          <label class="check-label"><input type="checkbox" checked={changed} onChange={event => setParams({ changed: event.currentTarget.checked ? '1' : null }, 'replace')} />{t('config.changed')}</label>
          <input type="search" aria-label={t('config.filter')} placeholder={t('config.filter')} value={filter} onInput={event => setParams({ filter: event.currentTarget.value }, 'replace')} />
        </>
      }
    >
      <Trouble error={list.error.value} retry={() => void list.refresh()} />
      {!all ? !list.error.value && <Loading />
        : shown.length === 0 ? <Empty title={t('config.none')} />
        : (
          <table class="config">
            <thead><tr><th scope="col">{t('config.name')}</th><th scope="col">{t('config.value')}</th><th scope="col">{t('config.source')}</th></tr></thead>
            <tbody>
              {shown.map(option => (
                <tr key={option.name}>
                  <th scope="row"><code>{option.name}</code>{option.says && <p class="muted">{option.says}</p>}</th>
                  <td><code class={isDefault(option) ? undefined : 'changed'}>{textOf(option.value) === '' ? '""' : textOf(option.value)}</code></td>
                  <td class={isDefault(option) ? 'muted' : undefined} title={isDefault(option) || option.default === undefined ? undefined : t('config.default', { value: textOf(option.default) })}>{isDefault(option) ? t('config.is_default') : option.source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      {all && <p class="muted">{t('config.count', { shown: number(shown.length), all: number(all.length) })}</p>}
    </Section>
  );
}
