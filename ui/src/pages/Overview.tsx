import { signal } from '@preact/signals';
import { readiness } from '../app';
import { clock, Page, Since, Trouble } from '../components/basics';
import { Outcomes, Waits } from '../components/Charts';
import { FirstSteps } from '../components/FirstSteps';
import { NeedsYou } from '../components/NeedsYou';
import { RangeSwitch, useRange } from '../components/RangeSwitch';
import { Tile, Tiles } from '../components/Tile';
import { get } from '../lib/api';
import { quote } from '../lib/filter';
import { duration, number, percent, rate, shortNumber } from '../lib/format';
import { t } from '../lib/i18n';
import { isSilent, needs } from '../lib/needs';
import { addCounts, underWay, withCounts } from '../lib/queues';
import { useResource } from '../lib/resource';
import { badShare, ended, newest, recentRate } from '../lib/series';
import { counters } from '../lib/stream';
import { STATES, type Counts, type FailureGroup, type Queue, type Series, type Worker } from '../lib/types';
import { href } from '../lib/url';

const LAST_MINUTE = 60;
/** Somebody is at his first steps: they stay until he has seen them turn green. */
const beginning = signal(false);

function pair(of: { p50: Series['wait_ms']['p50']; p95: Series['wait_ms']['p95'] } | undefined): string {
  const text = (ms: number | null) => (ms === null ? '–' : duration(ms));
  return of ? `${text(newest(of.p50))} / ${text(newest(of.p95))}` : '–';
}

function oldestOf(queues: readonly Queue[]): Queue | undefined {
  return queues.filter(queue => queue.oldest_at && !queue.paused).sort((a, b) => Date.parse(a.oldest_at!) - Date.parse(b.oldest_at!))[0];
}

function Numbers({ series, tasks, queues, workers }: { series: Series | undefined; tasks: Counts | undefined; queues: readonly Queue[]; workers: readonly Worker[] | undefined }) {
  const oldest = oldestOf(queues);
  const bad = series && badShare(series);
  const done = series && ended(series);
  const live = workers?.filter(worker => !isSilent(worker, clock.value)).length;
  const search = (q: string) => href('tasks', { q });
  return (
    <Tiles label={t('tile.label')}>
      <Tile label={t('tile.done')} value={series && done ? rate(recentRate(series, done, LAST_MINUTE, Date.now())) : '–'} sub={t('tile.per_second')} line={done} href={search('state:succeeded,failed,cancelled,discarded')} />
      <Tile label={t('tile.oldest')} value={oldest ? <Since at={oldest.oldest_at} /> : '–'} sub={oldest?.name ?? (tasks?.queued === 0 ? t('tile.oldest_none') : '')} href={search(oldest ? `queue:${quote(oldest.name)} state:queued` : 'state:queued')} />
      <Tile label={t('tile.wait')} value={pair(series?.wait_ms)} sub="p50 / p95" href={search('state:queued')} />
      <Tile label={t('tile.run')} value={pair(series?.run_ms)} sub="p50 / p95" href={search('state:succeeded')} />
      <Tile label={t('tile.failed')} value={bad === null || bad === undefined ? '–' : percent(bad)} sub={t('tile.failed_of')} tone={bad && bad >= 0.05 ? 'bad' : undefined} href={href('failures')} />
      <Tile label={t('state.suspended')} value={tasks ? shortNumber(tasks.suspended) : '–'} sub={t('tile.suspended')} tone={tasks && tasks.suspended > 0 ? 'warn' : undefined} href={href('suspended')} />
      <Tile label={t('tile.running')} value={tasks ? shortNumber(underWay(tasks)) : '–'} sub={tasks ? t('tile.queued', { n: tasks.queued }) : ''} href={search('state:running,accepted,dispatched')} />
      <Tile label={t('nav.workers')} value={workers ? `${number(live!)} / ${number(workers.length)}` : '–'} sub={t('tile.workers')} tone={workers && live! < workers.length ? 'warn' : undefined} href={href('workers')} />
    </Tiles>
  );
}

function useOverview() {
  const range = useRange();
  const every = 5_000;
  const list = useResource('queues', stop => get<{ queues: Queue[] }>('v1/queues', {}, stop), { every });
  const workers = useResource('workers', stop => get<{ workers: Worker[] }>('v1/workers', {}, stop), { every });
  const failures = useResource('failures', stop => get<{ groups: FailureGroup[] }>('v1/failures', { limit: 20 }, stop), { every: 15_000 });
  const recent = useResource('series 15m', stop => get<Series>('v1/series', { range: '15m' }, stop), { every });
  const longer = useResource(`series ${range}`, range === '15m' ? null : stop => get<Series>('v1/series', { range }, stop), { every: 30_000 });
  const queues = list.data.value && withCounts(list.data.value.queues, counters.value);
  const tasks = counters.value?.tasks ?? (queues && addCounts(queues.map(queue => queue.tasks)));
  // What was read for another range is not shown as this one's.
  const drawn = range === '15m' ? recent : longer;
  const series = range === '15m' ? recent.data.value : longer.data.value?.range === range ? longer.data.value : undefined;
  const facts = { readiness: readiness.value, groups: failures.data.value?.groups, queues, workers: workers.data.value?.workers, now: clock.value };
  return { list, workers, queues: queues ?? [], tasks, recent: recent.data.value, series, trouble: series ? undefined : drawn.error.value, retry: drawn.refresh, needing: queues && workers.data.value ? needs(facts) : undefined };
}

export default function Overview() {
  const all = useOverview();
  const total = all.tasks && STATES.reduce((sum, state) => sum + all.tasks![state], 0);
  if (total === 0 && !beginning.peek()) beginning.value = true;
  const working = all.workers.data.value?.workers.length ?? 0;
  return (
    <Page title={t('nav.overview')} actions={<RangeSwitch />} wide>
      <Trouble error={all.list.error.value} retry={() => void all.list.refresh()} />
      {beginning.value && all.tasks && (
        <FirstSteps steps={{ worker: working > 0, submitted: (total ?? 0) > 0, finished: all.tasks.succeeded > 0 }} onHide={() => (beginning.value = false)} />
      )}
      {total !== 0 && <NeedsYou list={all.needing} after={() => void all.list.refresh()} />}
      <Numbers series={all.recent} tasks={all.tasks} queues={all.queues} workers={all.workers.data.value?.workers} />
      <Trouble error={all.trouble} retry={() => void all.retry()} />
      {total !== 0 && !all.trouble && <div class="charts">
        {all.series ? <><Outcomes series={all.series} /><Waits series={all.series} /></> : <><div class="section chart chart-wait" /><div class="section chart chart-wait" /></>}
      </div>}
    </Page>
  );
}
