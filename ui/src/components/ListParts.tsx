// The small parts around a list of tasks: how many, the end of it, nothing of it, and how to ask for it elsewhere.
import { useEffect, useState } from 'preact/hooks';
import { get, url } from '../lib/api';
import { parse, withClause, without } from '../lib/filter';
import { number } from '../lib/format';
import { t } from '../lib/i18n';
import type { RowStore } from '../lib/rows';
import type { Facets as FacetData } from '../lib/types';
import { Command, Empty, Trouble } from './basics';
import { Dialog } from './Dialog';

/** The server counts characters of the whole query; the box shows only what was written there. */
export function shiftBack<E extends { position?: number | undefined }>(error: E | undefined, always: string): E | undefined {
  if (!error || always === '' || error.position === undefined) return error;
  return Object.assign(Object.create(Object.getPrototypeOf(error) as object) as E, error, { position: error.position - always.length - 1 });
}

export function countText(store: RowStore, known: FacetData | undefined, total: number): string {
  if (known?.exact) return t('tasks.count', { n: known.total });
  if (store.ended) return t('tasks.count', { n: total });
  return t('tasks.count_at_least', { n: Math.max(store.ids.length, known?.total ?? 0) });
}

/** The end of what was read: more to come, looked so far, or an error. */
export function Foot({ store, total }: { store: RowStore; total: number }) {
  if (store.error.value) return <Trouble error={store.error.value} retry={() => void store.more()} />;
  if (store.stopped) {
    return (
      <div class="list-foot">
        <span>{t('tasks.looked', { n: store.looked })}</span>
        <button type="button" class="main" onClick={() => void store.more(true)}>{t('tasks.go_on')}</button>
      </div>
    );
  }
  if (store.loading.value && store.cost === 'scan') return <div class="list-foot" role="status">{t('tasks.looking', { n: store.looked })}</div>;
  if (store.ended && total > 30) return <div class="list-foot muted">{t('tasks.end')}</div>;
  return null;
}

/** Which clause is in the way? Each is taken away once, and what would be found is counted. */
export function NothingMatches({ query, always, onQuery }: { query: string; always: string; onQuery(query: string): void }) {
  const [found, setFound] = useState<{ rest: string; text: string; count: number; exact: boolean }[]>();
  useEffect(() => {
    const controller = new AbortController();
    const tries = parse(query).clauses.slice(0, 6).map(async clause => {
      const rest = without(query, clause);
      const counted = await get<FacetData>('v1/tasks/facets', { q: withClause(always, rest) }, controller.signal);
      return { rest, text: query.slice(clause.start, clause.end), count: counted.total, exact: counted.exact };
    });
    void Promise.all(tries).then(list => setFound(list.sort((a, b) => b.count - a.count)), () => undefined);
    return () => controller.abort();
  }, [query, always]);
  return (
    <Empty title={t('tasks.nothing_matches')}>
      {found?.some(one => one.count > 0) ? (
        <ul class="drops">
          {found.filter(one => one.count > 0).map(one => (
            <li><button type="button" onClick={() => onQuery(one.rest)}>{t('tasks.without', { clause: one.text, count: (one.exact ? '' : '≥ ') + number(one.count) })}</button></li>
          ))}
        </ul>
      ) : (
        <button type="button" onClick={() => onQuery('')}>{t('tasks.drop_all')}</button>
      )}
    </Empty>
  );
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function Sharing({ q, onClose }: { q: string; onClose(): void }) {
  return (
    <Dialog title={t('tasks.copy_as')} onClose={onClose} wide>
      <Command text={`curl -s ${shellQuoted(url('v1/tasks', { q, fields: 'header' }))}`} />
      <Command text={q === '' ? 'holdfast list' : `holdfast list -q ${shellQuoted(q)}`} />
      <p class="muted">{t('tasks.copy_link')}</p>
      <Command text={window.location.href} />
      <div class="dialog-actions"><button type="button" onClick={onClose}>{t('common.close')}</button></div>
    </Dialog>
  );
}
