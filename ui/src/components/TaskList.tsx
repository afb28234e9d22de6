// A searchable list of tasks that one can act on: what Tasks and Suspended share.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ACTIONS, actionName, actOnOne, may, type Action } from '../lib/acts';
import { fitsState, withClause } from '../lib/filter';
import { t } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { useLive, useSlowly, useStore } from '../lib/live_rows';
import { held, isReadOnly } from '../lib/may';
import { lastOpened, rememberList } from '../lib/seen';
import type { TaskHead } from '../lib/types';
import { go, href, param, setParams } from '../lib/url';
import { copy, Icon, Loading, Trouble } from './basics';
import { BulkDialog, type BulkAsk } from './BulkDialog';
import { Facets, hasFacets, useFacets } from './Facets';
import { FilterBar } from './FilterBar';
import { countText, Foot, NothingMatches, Sharing, shiftBack } from './ListParts';
import { VTable, type Column } from './VTable';

export interface TaskListProps {
  label: string;
  /** A clause that always holds, like state:suspended. */
  always: string;
  /** `refresh` reads one row again, after an act on it. */
  columns(refresh: (id: string) => void): readonly Column<TaskHead>[];
  /** What may be done to many here. */
  actions: readonly Action[];
  /** Shown when there is nothing, and nothing was searched for. */
  nothing: ComponentChildren;
}

const AHEAD = 600;
const TELL_EVERY = 10_000;
const MOST_IDS = 1_000;
const INPUT = 'filter-input';
const here = () => window.location.pathname + window.location.search;

interface Selection {
  ids: ReadonlySet<string>;
  /** Everything that matches, whatever is shown. */
  all: boolean;
}
const NOTHING: Selection = { ids: new Set(), all: false };

export function TaskList({ label, always, columns, actions, nothing }: TaskListProps) {
  const own = param('q');
  const q = withClause(always, own);
  const [round, setRound] = useState(0);
  const { shown: store, next } = useStore(q, round);
  const facets = useFacets(q);
  const [selection, select] = useState<Selection>(NOTHING);
  const [current, setCurrent] = useState(-1);
  const [moves, setMoves] = useState(0);
  const [bulk, setBulk] = useState<BulkAsk>();
  const [sharing, setSharing] = useState(false);
  const anchor = useRef(-1);
  const sight = useRef<readonly string[]>([]);
  const sighted = useLive(store, sight);
  void store.changed.value;

  useEffect(() => {
    select(NOTHING);
    setCurrent(-1);
  }, [q, round]);
  // Back from a task: to its row.
  useEffect(() => {
    const at = store.place(lastOpened(here()) ?? '');
    if (at < 0 || round > 0) return;
    setCurrent(at);
    setMoves(n => n + 1);
  }, [store, store.ready]);

  const count = store.ids.length;
  const known = facets.data.value;
  const total = store.ended ? count : Math.max(count, known?.exact ? known.total : count);
  /** The number of all that match is known, not only of those that were read. */
  const isCertain = store.ended || known?.exact === true;
  const ahead = store.ended || store.stopped ? 0 : Math.min(AHEAD, Math.max(total - count, store.loading.value ? 20 : 0));
  const setQuery = (text: string) => setParams({ q: text });
  const reload = () => {
    setRound(n => n + 1);
    void facets.refresh();
  };

  // ---- where one is, and what is chosen ----
  const move = (to: number) => {
    if (count === 0) return;
    setCurrent(Math.max(0, Math.min(count - 1, to)));
    setMoves(n => n + 1);
  };
  const open = (at: number) => {
    const id = store.ids[at];
    if (id === undefined) return;
    setCurrent(at);
    rememberList(store.ids, here(), id);
    go(href(`tasks/${id}`));
  };
  const choose = (at: number, range: boolean) => {
    const ids = new Set(selection.all ? [] : selection.ids);
    const from = range && anchor.current >= 0 ? anchor.current : at;
    const on = range || !ids.has(store.ids[at]!);
    for (let i = Math.min(from, at); i <= Math.max(from, at); i++) {
      const id = store.ids[i];
      if (id === undefined) continue;
      if (on) ids.add(id);
      else ids.delete(id);
    }
    anchor.current = at;
    setCurrent(at);
    select({ ids, all: false });
  };
  const chosen = selection.all ? total : selection.ids.size;
  const choosePage = () => select(selection.all || selection.ids.size > 0 ? NOTHING : { ids: new Set(store.ids.slice(0, MOST_IDS)), all: false });
  const chooseAll = () => count > 0 && select({ ids: new Set(), all: true });

  const act = (action: Action) => {
    if (isReadOnly()) return;
    if (selection.all) setBulk({ action, target: { q } });
    else if (selection.ids.size > 0) setBulk({ action, target: { ids: [...selection.ids].slice(0, MOST_IDS) } });
    else {
      const row = store.row(current);
      if (row && may(action, row)) void actOnOne(action, row).then(done => void (done && store.refresh([row.id])));
    }
  };
  const acted = () => {
    void store.refresh(sight.current);
    void facets.refresh();
    select(NOTHING);
  };

  useKeys([
    { keys: 'j', says: 'keys.next', run: () => move(current + 1) },
    { keys: 'k', says: 'keys.previous', run: () => move(Math.max(0, current - 1)) },
    { keys: 'Enter', says: 'keys.open', run: () => (document.activeElement?.closest('a, button, summary') ? (document.activeElement as HTMLElement).click() : open(current)) },
    { keys: 'x', says: 'keys.select', run: () => current >= 0 && choose(current, false) },
    { keys: 'Shift+x', says: 'keys.select_range', run: () => current >= 0 && choose(current, true) },
    { keys: 'a', says: 'keys.select_all', run: chooseAll },
    { keys: 'r', says: 'keys.retry', run: () => act('resume') },
    { keys: 'u', says: 'keys.resume', run: () => act('resume') },
    { keys: 'c', says: 'keys.cancel', run: () => actions.includes('cancel') && act('cancel') },
    { keys: 'd', says: 'keys.discard', run: () => act('discard') },
    { keys: 'e', says: 'keys.edit', run: () => current >= 0 && store.ids[current] && go(href(`tasks/${store.ids[current]}`, { edit: 1 })) },
    { keys: 'y', says: 'keys.copy_id', run: () => current >= 0 && store.ids[current] && void copy(store.ids[current]) },
    { keys: '/', says: 'keys.filter', run: () => document.getElementById(INPUT)?.focus() },
    { keys: 'Escape', says: 'keys.unselect', run: () => select(NOTHING) },
  ]);

  // Drawn again only when they change, not with every row that comes.
  const error = next.error.value;
  const filter = useMemo(() => <FilterBar query={own} onQuery={setQuery} facets={known} error={shiftBack(error, always)} inputId={INPUT} {...(always === '' ? {} : { hint: 'filter.placeholder_more' as const })} />, [own, known, error]);
  const leave = always === '' ? [] : (['state'] as const);
  const facetList = useMemo(() => <Facets data={known} query={own} onQuery={setQuery} leave={leave} />, [own, known]);
  const fresh = store.fresh.value;
  const told = useSlowly(fresh, TELL_EVERY);
  // What was found before is no answer to a line that cannot be read.
  const isWrong = error?.field === 'q';
  const isEmpty = !isWrong && store.ready && count === 0 && (store.ended || store.stopped);
  const foot = <Foot store={store} total={total} />;
  return (
    <div class="task-list">
      {filter}
      <div class="list-frame">
        {hasFacets(known, own, leave) && (
          <details class="facet-box" open={window.innerWidth > 1000}>
            <summary>{t('tasks.facets')}</summary>
            {facetList}
          </details>
        )}
        <div class="list-main">
          <div class="list-bar">
            {chosen > 0 && !isWrong ? (
              <BulkBar chosen={chosen} all={selection.all} total={total} exact={isCertain} actions={actions} act={act} onAll={chooseAll} onNone={() => select(NOTHING)} />
            ) : (
              <>
                <span class="list-count">{store.ready && !isWrong ? countText(store, known, total) : ''}</span>
                <span class="sr" role="status">{told > 0 ? t('tasks.new', { n: told, more: told >= 100 ? '+' : '' }) : ''}</span>
                {fresh > 0 && <button type="button" class="pill" onClick={reload}>{t('tasks.new', { n: fresh, more: fresh >= 100 ? '+' : '' })}</button>}
                <span class="spring" />
                <button type="button" class="quiet" onClick={reload}>{t('tasks.reload')}</button>
                <button type="button" class="quiet" onClick={() => setSharing(true)}>{t('tasks.copy_as')}</button>
              </>
            )}
          </div>
          {error && !isWrong && <Trouble error={error} retry={() => void next.more()} />}
          {!store.ready && !error && <Loading />}
          {isEmpty && store.ended && (own === '' ? nothing : <NothingMatches query={own} always={always} onQuery={setQuery} />)}
          {isEmpty && store.stopped && foot}
          {count > 0 && !isWrong && (
            <VTable
              label={label}
              columns={columns(id => void store.refresh([id]))}
              count={count}
              ahead={ahead}
              total={isCertain ? total : -1}
              row={at => store.row(at)}
              rowClass={row => `${store.isGone(row.id) ? 'gone' : fitsState(q, row.state) ? '' : 'left'}${store.isNew(row.id) ? ' flash' : ''}`}
              isSelected={at => selection.all || selection.ids.has(store.ids[at]!)}
              current={current}
              moves={moves}
              onCurrent={move}
              onOpen={open}
              onFollow={at => rememberList(store.ids, here(), store.ids[at]!)}
              onSelect={choose}
              onSight={(first, last) => {
                sight.current = store.ids.slice(first, last);
                sighted();
                store.need(first, last);
              }}
              listKey={`${q} ${round} ${store.ready}`}
              selectAll={<input type="checkbox" aria-label={t('tasks.select_page')} checked={chosen > 0} onChange={choosePage} />}
              selectLabel={at => t('tasks.select_row', { id: store.ids[at] ?? '' })}
              foot={foot}
            />
          )}
        </div>
      </div>
      {bulk && <BulkDialog ask={bulk} onClose={() => setBulk(undefined)} onDone={acted} />}
      {sharing && <Sharing q={q} onClose={() => setSharing(false)} />}
    </div>
  );
}

interface BulkBarProps {
  chosen: number;
  all: boolean;
  total: number;
  exact: boolean;
  actions: readonly Action[];
  act(action: Action): void;
  onAll(): void;
  onNone(): void;
}

/** What is selected, and what can be done to it. */
function BulkBar({ chosen, all, total, exact, actions, act, onAll, onNone }: BulkBarProps) {
  return (
    <div class="bulk-bar" role="group" aria-label={t('tasks.selection')}>
      <strong>{all ? (exact ? t('tasks.all_selected', { n: total }) : t('tasks.all_selected_some')) : t('tasks.selected', { n: chosen })}</strong>
      {!all && (total > chosen || !exact) && <button type="button" class="quiet" onClick={onAll}>{exact ? t('tasks.select_all', { n: total }) : t('tasks.select_all_match')}</button>}
      {ACTIONS.filter(action => actions.includes(action)).map(action => (
        <button type="button" class={action === 'discard' || action === 'cancel' ? 'small bad' : 'small'} {...held()} onClick={() => act(action)}>{`${actionName(action)}…`}</button>
      ))}
      <span class="spring" />
      <button type="button" class="quiet" title={t('tasks.unselect')} onClick={onNone}><Icon name="close" /><span class="sr">{t('tasks.unselect')}</span></button>
    </div>
  );
}
