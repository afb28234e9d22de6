// Failed and failing tasks by what went wrong: one line for each distinct error, and acts on all that have it.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { At, Empty, Icon, Loading, Page, Since, StateMark, TaskLink, Trouble } from '../components/basics';
import { BulkDialog, type BulkAsk } from '../components/BulkDialog';
import { useFacets } from '../components/Facets';
import { FilterBar } from '../components/FilterBar';
import { get } from '../lib/api';
import { withClause } from '../lib/filter';
import { number } from '../lib/format';
import { t, word } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { held, isReadOnly } from '../lib/may';
import { isNarrow } from '../lib/narrow';
import { useResource } from '../lib/resource';
import { STATES, type FailureGroup } from '../lib/types';
import { go, href, param, setParams } from '../lib/url';

interface Groups {
  groups: FailureGroup[];
  total: number;
  exact: boolean;
  scanned: number;
}
const INPUT = 'filter-input';
/** What of a group can still be mended: the others are over, or being tried right now. */
const OPEN = 'state:suspended,retrying';

const all = (group: FailureGroup) => Object.values(group.tasks).reduce((sum, n) => sum + n, 0);

export default function Failures() {
  const q = param('q');
  const opened = param('open');
  const list = useResource(`failures ${q}`, stop => get<Groups>('v1/failures', { q, limit: 200 }, stop), { every: 5_000 });
  const facets = useFacets(q);
  const [current, setCurrent] = useState(-1);
  const [bulk, setBulk] = useState<BulkAsk>();
  const rows = useRef<HTMLTableSectionElement>(null);
  const groups = list.data.value?.groups ?? [];
  const chosen = groups[current];

  const toggle = (group: FailureGroup) => setParams({ open: group.fingerprint === opened ? null : group.fingerprint });
  const act = (action: 'resume' | 'discard', group: FailureGroup | undefined) => {
    if (group && group.open > 0 && !isReadOnly()) setBulk({ action, target: { q: withClause(withClause(q, `group:${group.fingerprint}`), OPEN) } });
  };
  const move = (to: number) => {
    const at = Math.max(0, Math.min(groups.length - 1, to));
    setCurrent(at);
    requestAnimationFrame(() => rows.current?.querySelector<HTMLElement>(`[data-at="${at}"] button`)?.focus());
  };
  useKeys([
    { keys: 'j', says: 'keys.next', run: () => move(current + 1) },
    { keys: 'k', says: 'keys.previous', run: () => move(current - 1) },
    { keys: 'o', says: 'keys.open', run: () => chosen && toggle(chosen) },
    { keys: 'r', says: 'keys.retry', run: () => act('resume', chosen) },
    { keys: 'u', says: 'keys.resume', run: () => act('resume', chosen) },
    { keys: 'd', says: 'keys.discard', run: () => act('discard', chosen) },
    { keys: 'a', says: 'keys.tasks', run: () => chosen && go(href('tasks', { q: `group:${chosen.fingerprint}` })) },
    { keys: '/', says: 'keys.filter', run: () => document.getElementById(INPUT)?.focus() },
  ]);
  // A link to a group begins with it.
  useEffect(() => {
    if (current < 0 && opened !== '') setCurrent(groups.findIndex(group => group.fingerprint === opened));
  }, [groups.length]);

  const error = list.error.value;
  return (
    <Page title={t('nav.failures')} wide>
      <FilterBar query={q} onQuery={text => setParams({ q: text })} facets={facets.data.value} error={error} inputId={INPUT} hint="filter.placeholder_more" />
      {error && error.field !== 'q' && <Trouble error={error} retry={() => void list.refresh()} />}
      {!list.data.value && !error && <Loading />}
      {list.data.value && groups.length === 0 && <Empty title={t('failures.none')}><p>{t('failures.none_says')}</p></Empty>}
      {groups.length > 0 && (
        <>
          <p class="muted">{t('failures.total', { n: list.data.value!.total })}{!list.data.value!.exact && ` · ${t('failures.part', { n: list.data.value!.scanned })}`}</p>
          <div class="group-box">
            <table class="groups">
              <thead>
                <tr>
                  <th scope="col">{t('failures.error')}</th>
                  <th scope="col" class="num">{t('failures.open')}</th>
                  <th scope="col" class="num">{t('failures.failed')}</th>
                  {!isNarrow.value && <th scope="col" class="g-last num">{t('failures.last')}</th>}
                  {!isNarrow.value && <th scope="col" class="g-acts">{t('suspended.acts')}</th>}
                </tr>
              </thead>
              <tbody ref={rows}>
                {groups.map((group, at) => (
                  <Group key={group.fingerprint} group={group} at={at} query={q} isOpen={group.fingerprint === opened} isCurrent={at === current} onToggle={() => {
                    setCurrent(at);
                    toggle(group);
                  }} act={act} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      {bulk && <BulkDialog ask={bulk} onClose={() => setBulk(undefined)} onDone={() => void list.refresh()} />}
    </Page>
  );
}

interface GroupProps {
  group: FailureGroup;
  at: number;
  query: string;
  isOpen: boolean;
  isCurrent: boolean;
  onToggle(): void;
  act(action: 'resume' | 'discard', group: FailureGroup): void;
}

function Group({ group, at, query, isOpen, isCurrent, onToggle, act }: GroupProps) {
  const nothing = group.open === 0;
  const acts = (
    <>
      <button type="button" class="small" disabled={nothing} {...held()} onClick={() => act('resume', group)}>{t('failures.resume')}</button>
      <button type="button" class="small bad" disabled={nothing} {...held()} onClick={() => act('discard', group)}>{t('failures.discard')}</button>
    </>
  );
  return (
    <>
      <tr data-at={at} class={isCurrent ? 'current' : undefined}>
        <td class="g-error">
          <button type="button" class="quiet open-group" aria-expanded={isOpen} title={t('failures.show')} onClick={onToggle}>
            <Icon name="chevron" /><span class="error-message">{group.message}</span>
          </button>
          <span class="g-where muted">{[group.type, group.queue, word('kind', group.kind), group.code].filter(Boolean).join(' · ')}</span>
        </td>
        <td class="num">{group.open > 0 ? <a href={href('tasks', { q: withClause(query, `group:${group.fingerprint} -state:failed,succeeded,cancelled,discarded`) })}>{number(group.open)}</a> : '0'}</td>
        <td class="num">{group.failed > 0 ? <a href={href('tasks', { q: withClause(query, `group:${group.fingerprint} state:failed`) })}>{number(group.failed)}</a> : '0'}</td>
        {!isNarrow.value && <td class="g-last num nowrap"><Since at={group.last_seen} /></td>}
        {!isNarrow.value && <td class="g-acts nowrap">{acts}</td>}
      </tr>
      {isOpen && <tr class="g-detail"><td colSpan={isNarrow.value ? 3 : 5}><Detail group={group} query={query} acts={isNarrow.value ? acts : null} /></td></tr>}
    </>
  );
}

function Detail({ group, query, acts }: { group: FailureGroup; query: string; acts: ComponentChildren }) {
  const whole = useResource(`failure ${group.fingerprint}`, stop => get<FailureGroup & { stack?: string | null }>(`v1/failures/${group.fingerprint}`, {}, stop));
  const q = withClause(query, `group:${group.fingerprint}`);
  const stack = whole.data.value?.stack;
  return (
    <div class="g-body">
      <dl class="facts">
        <div><dt>{t('failures.first')}</dt><dd><At at={group.first_seen} /></dd></div>
        <div><dt>{t('failures.last')}</dt><dd><At at={group.last_seen} /></dd></div>
        {group.tenants !== undefined && <div><dt>{t('failures.tenants')}</dt><dd>{number(group.tenants)}</dd></div>}
        <div class="whole"><dt>{t('failures.by_state')}</dt><dd class="row">{STATES.filter(state => group.tasks[state] > 0).map(state => <a href={href('tasks', { q: `${q} state:${state}` })}><StateMark state={state} /> {number(group.tasks[state])}</a>)}</dd></div>
      </dl>
      {acts && <div>{acts}</div>}
      <p><a href={href('tasks', { q })}>{t('failures.tasks', { n: all(group) })}</a></p>
      <h2>{t('failures.sample')} {group.sample_task && <TaskLink id={group.sample_task} />}</h2>
      <p class="error-message">{group.sample}</p>
      {whole.error.value ? <Trouble error={whole.error.value} retry={() => void whole.refresh()} /> : stack ? <pre tabIndex={0} aria-label={t('task.stack')}>{stack}</pre> : whole.data.value ? <p class="muted">{t('failures.no_stack')}</p> : <Loading />}
    </div>
  );
}
