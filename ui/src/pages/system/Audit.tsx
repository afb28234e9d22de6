import { useEffect, useState } from 'preact/hooks';
import { Act, At, Empty, Loading, Section, TaskLink, Trouble } from '../../components/basics';
import { Wide } from '../../components/Wide';
import { get } from '../../lib/api';
import { shortId } from '../../lib/format';
import { t, word } from '../../lib/i18n';
import { attempt } from '../../lib/notices';
import { useResource } from '../../lib/resource';
import type { AuditEntry } from '../../lib/types';
import { href, param, setParams } from '../../lib/url';

interface AuditPage {
  entries: AuditEntry[];
  next_cursor: string | null;
}
const FILTERS = ['who', 'action', 'target'] as const;
const LABELS = { who: 'audit_page.who', target: 'audit_page.target' } as const;
const PAGE = 50;

/** Newest first, each once: pages that were read at different times overlap. */
export function joined(...pages: readonly (readonly AuditEntry[])[]): AuditEntry[] {
  const byId = new Map(pages.flat().map(entry => [entry.id, entry]));
  return [...byId.values()].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? 1 : -1));
}

const ACTIONS = ['task.cancel', 'task.pause', 'task.resume', 'task.discard', 'task.signal', 'task.reveal', 'queue.pause', 'queue.resume', 'queue.close', 'queue.open', 'queue.limits', 'bulk.start', 'bulk.pause', 'bulk.resume', 'bulk.stop', 'worker.drain'] as const;

/** "queue:images": what it is, and where it is shown. */
function Target({ target }: { target: string }) {
  const at = target.indexOf(':');
  const name = target.slice(at + 1);
  switch (target.slice(0, Math.max(0, at))) {
    case 'task': return <TaskLink id={name} />;
    case 'queue': return <a href={href(`queues/${encodeURIComponent(name)}`)}>{name}</a>;
    case 'worker': return <a href={href('workers', { q: name })}>{name}</a>;
    case 'bulk': return <a class="id" href={href('system', { tab: 'bulk' })} title={name}>{shortId(name)}</a>;
    default: return <>{target}</>;
  }
}

/** "action:resume queue:gpu matched:12": what an act was about, without what was not said. */
export function detailText(detail: unknown): string {
  if (detail === null || typeof detail !== 'object') return '';
  return Object.entries(detail)
    .filter(([name, value]) => !name.endsWith('_us') && !['', 0, null, false, undefined].includes(value as never) && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => (Array.isArray(value) ? `${name}:${value.join()}` : typeof value === 'object' ? detailText(value) : `${name}:${String(value)}`))
    .filter(text => text !== '')
    .join(' ');
}

function useAudit() {
  const filters = Object.fromEntries(FILTERS.map(name => [name, param(name)]));
  const key = JSON.stringify(filters);
  const first = useResource(`audit ${key}`, signal => get<AuditPage>('v1/audit', { ...filters, limit: PAGE }, signal), { every: 5_000 });
  const [seen, setSeen] = useState<{ key: string; entries: AuditEntry[]; next: string | null }>({ key, entries: [], next: null });
  const page = first.data.value;
  useEffect(() => {
    if (!page) return;
    setSeen(before => (before.key === key && before.entries.length > 0 ? { ...before, entries: joined(before.entries, page.entries) } : { key, entries: page.entries, next: page.next_cursor }));
  }, [page]);
  const older = async () => {
    const more = await attempt(() => get<AuditPage>('v1/audit', { ...filters, limit: PAGE, cursor: seen.next }));
    if (more) setSeen(before => ({ key, entries: joined(before.entries, more.entries), next: more.next_cursor }));
  };
  return { first, entries: page && seen.entries, next: seen.next, older };
}

function Filter({ name, placeholder }: { name: 'who' | 'target'; placeholder: string }) {
  return <label>{t(LABELS[name])}<input type="search" placeholder={placeholder} value={param(name)} onChange={event => setParams({ [name]: event.currentTarget.value.trim() })} /></label>;
}

export function Audit() {
  const { first, entries, next, older } = useAudit();
  const filtered = FILTERS.some(name => param(name) !== '');
  return (
    <Section title={t('system.audit')}>
      <div class="filters">
        <Filter name="who" placeholder="api" />
        <label>{t('audit_page.action')}
          <select value={param('action')} onChange={event => setParams({ action: event.currentTarget.value })}>
            <option value="">{t('audit_page.any')}</option>
            {ACTIONS.map(action => <option value={action}>{word('audit', action)}</option>)}
          </select>
        </label>
        <Filter name="target" placeholder="queue:images" />
      </div>
      <Trouble error={first.error.value} retry={() => void first.refresh()} />
      {!entries ? !first.error.value && <Loading />
        : entries.length === 0 ? <Empty title={filtered ? t('audit_page.no_match') : t('audit_page.none')}>{filtered ? <button type="button" onClick={() => setParams({ who: null, action: null, target: null })}>{t('audit_page.clear')}</button> : <p>{t('audit_page.none_why')}</p>}</Empty>
        : (
          <Wide label={t('system.audit')}>
            <table class="audit">
              <thead><tr><th scope="col">{t('audit_page.at')}</th><th scope="col">{t('audit_page.who')}</th><th scope="col">{t('audit_page.action')}</th><th scope="col">{t('audit_page.target')}</th><th scope="col">{t('audit_page.reason')}</th></tr></thead>
              <tbody>
                {entries.map(entry => (
                  <tr key={entry.id}>
                    <td class="nowrap"><At at={entry.at} /></td>
                    <td><span title={entry.address}>{entry.who}</span></td>
                    <td class="nowrap" title={entry.action}>{word('audit', entry.action)}</td>
                    <td class="target"><Target target={entry.target} /></td>
                    <td>{entry.reason || <span class="muted">–</span>}{detailText(entry.detail) !== '' && <code class="audit-detail">{detailText(entry.detail)}</code>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      {next && <div><Act run={older}>{t('audit_page.older')}</Act></div>}
    </Section>
  );
}
