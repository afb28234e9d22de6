import type { ComponentChildren } from 'preact';
import { readiness } from '../../app';
import { At, Loading, Section, Since, Trouble } from '../../components/basics';
import { Wide } from '../../components/Wide';
import { get } from '../../lib/api';
import { number } from '../../lib/format';
import { t, word } from '../../lib/i18n';
import { useResource } from '../../lib/resource';
import { status } from '../../lib/stream';
import type { Instance } from '../../lib/types';

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function Status({ status }: { status: string }) {
  const good = status === 'ready';
  return <span class={good ? 'sign ok-text' : status === 'degraded' ? 'sign warn-text' : 'sign bad-text'}>{good ? '● ' : '▲ '}{word('check', status)}</span>;
}

function Instances() {
  const list = useResource('instances', signal => get<{ instances: Instance[] }>('v1/instances', {}, signal), { every: 5_000 });
  const all = list.data.value?.instances;
  return (
    <Section title={t('system.instances')}>
      <Trouble error={list.error.value} retry={() => void list.refresh()} />
      {!all ? !list.error.value && <Loading /> : (
        <Wide label={t('system.instances')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('system.id')}</th><th scope="col">{t('system.version')}</th>
                <th scope="col">{t('system.roles')}</th><th scope="col" class="num">{t('nav.workers')}</th><th scope="col" class="num">{t('system.up')}</th><th scope="col" class="num">{t('system.seen')}</th>
              </tr>
            </thead>
            <tbody>
              {all.map(one => (
                <tr key={one.id}>
                  <th scope="row" class="instance"><span class="id">{one.id}</span>{one.self && <span class="muted"> {t('system.this')}</span>}{one.address && <span class="muted">{one.address}</span>}</th>
                  <td>{one.version ?? '–'}</td>
                  <td>{one.roles?.map(role => word('role', role)).join(t('system.comma')) ?? '–'}</td>
                  <td class="num">{one.workers === undefined ? '–' : number(one.workers)}</td>
                  <td class="num nowrap"><Since at={one.started_at} /></td>
                  <td class="num nowrap"><Since at={one.seen_at} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </Section>
  );
}

export function Health() {
  const server = readiness.value;
  // What it said last is no news while nobody answers.
  const gone = status.value === 'stale';
  return (
    <>
      <Section title={t('system.this_server')}>
        {!server ? <Loading /> : (
          <>
            {server.detail && <p class="bad-text">{server.detail}</p>}
            {server.problems?.length > 0 && <ul class="problems">{server.problems.map(problem => <li class="warn-text">◆ {problem}</li>)}</ul>}
            <dl class="server-facts">
              <Fact name={t('system.status')}><Status status={gone ? 'silent' : server.status} /></Fact>
              <Fact name={t('system.instance')}><span class="id">{server.instance}</span></Fact>
              <Fact name={t('system.version')}>{server.version ?? '–'}</Fact>
              <Fact name={t('system.up')}>{gone ? '–' : <Since at={server.started_at} />}</Fact>
              <Fact name={t('system.store')}><code>{server.store}</code></Fact>
              <Fact name={t('system.durability')}>{word('check', server.durability)}</Fact>
              <Fact name={t('system.roles')}>{server.roles?.map(role => word('role', role)).join(t('system.comma'))}</Fact>
              <Fact name={t('system.acts')}>{server.read_only ? t('system.acts_none') : t('system.acts_all')}</Fact>
              <Fact name={t('system.time')}><At at={server.time} /></Fact>
            </dl>
          </>
        )}
      </Section>
      <Instances />
    </>
  );
}
