import { Broken, Empty, Loading, Page, Section, Since, StateMark, Trouble } from '../components/basics';
import { Outcomes } from '../components/Charts';
import { limitText, QueueActs, QueueState } from '../components/QueueParts';
import { RangeSwitch, useRange } from '../components/RangeSwitch';
import { Wide } from '../components/Wide';
import { Tile, Tiles } from '../components/Tile';
import { get } from '../lib/api';
import { quote } from '../lib/filter';
import { number, rate } from '../lib/format';
import { t } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { isReadOnly } from '../lib/may';
import { togglePause } from '../lib/queueActs';
import { underWay, withCounts } from '../lib/queues';
import { useResource } from '../lib/resource';
import { counters } from '../lib/stream';
import { STATES, type Queue, type Series, type Stats, type Worker } from '../lib/types';
import { go, href } from '../lib/url';

function Types({ rows }: { rows: Stats['queues'] }) {
  if (rows.length === 0) return <p class="muted">{t('queue.no_types')}</p>;
  const states = STATES.filter(state => rows.some(row => row.tasks[state] > 0));
  return (
    <Wide label={t('queue.types')}>
      <table class="of-types">
        <thead>
          <tr><th scope="col">{t('queue.type')}</th>{states.map(state => <th scope="col" class="num"><StateMark state={state} /></th>)}</tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.type}>
              <th scope="row"><a href={href('tasks', { q: `queue:${quote(row.queue)} type:${quote(row.type)}` })}><Broken name={row.type} /></a></th>
              {states.map(state => (
                <td class="num">{row.tasks[state] === 0 ? <span class="muted">0</span> : <a href={href('tasks', { q: `queue:${quote(row.queue)} type:${quote(row.type)} state:${state}` })}>{number(row.tasks[state])}</a>}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Servers({ name, workers }: { name: string; workers: readonly Worker[] }) {
  const serving = workers.filter(worker => worker.queues.includes(name));
  if (serving.length === 0) return <p class="warn-text">{t('queue.no_workers')} <a href={href('workers')}>{t('need.how')}</a></p>;
  return (
    <ul class="bits">
      {serving.map(worker => <li key={worker.name}><a class="bit" href={href('workers', { q: worker.name })}>{worker.name} <span class="muted">{number(worker.running ?? 0)}{worker.slots !== null && ` / ${number(worker.slots)}`}</span></a></li>)}
    </ul>
  );
}

function Numbers({ queue }: { queue: Queue }) {
  const list = (state: string) => href('tasks', { q: `queue:${quote(queue.name)} state:${state}` });
  return (
    <Tiles label={queue.name} short>
      <Tile label={t('state.queued')} value={number(queue.tasks.queued)} sub={queue.oldest_at ? <>{t('queues.oldest')} <Since at={queue.oldest_at} /></> : ''} href={list('queued')} />
      <Tile label={t('tile.running')} value={number(underWay(queue.tasks))} sub={queue.concurrency > 0 ? t('queue.of_limit', { limit: limitText(queue) }) : t('queue.no_limit')} href={list('running,accepted,dispatched')} />
      <Tile label={t('state.retrying')} value={number(queue.tasks.retrying)} href={list('retrying')} />
      <Tile label={t('state.waiting')} value={number(queue.tasks.waiting)} href={list('waiting')} />
      <Tile label={t('state.suspended')} value={number(queue.tasks.suspended)} href={list('suspended')} tone={queue.tasks.suspended > 0 ? 'warn' : undefined} />
      <Tile label={t('state.failed')} value={number(queue.tasks.failed)} href={list('failed')} tone={queue.tasks.failed > 0 ? 'bad' : undefined} />
      <Tile label={t('queues.in')} value={queue.rate_in === undefined ? '–' : rate(queue.rate_in)} sub={t('queue.minute')} href={href('tasks', { q: `queue:${quote(queue.name)}` })} />
      <Tile label={t('queues.out')} value={queue.rate_out === undefined ? '–' : rate(queue.rate_out)} sub={queue.rate > 0 ? t('queue.of_limit', { limit: `${rate(queue.rate)}/s` }) : t('queue.minute')} href={list('succeeded,failed,cancelled,discarded')} />
    </Tiles>
  );
}

/** Nothing is known of it but its name: the server answers so for any name. */
function isBlank(queue: Queue): boolean {
  return !queue.paused && !queue.closed && queue.concurrency === 0 && queue.rate === 0 && STATES.every(state => queue.tasks[state] === 0);
}

function NoQueue({ name, workers }: { name: string; workers: readonly Worker[] }) {
  return (
    <>
      <Empty title={t('queue.missing', { queue: name })}>
        <p>{t('queues.none_why')}</p>
        <p><a href={href('queues')}>{t('queue.all')}</a></p>
      </Empty>
      {workers.some(worker => worker.queues.includes(name)) && <Section title={t('queue.workers')}><Servers name={name} workers={workers} /></Section>}
    </>
  );
}

export default function OneQueue({ id }: { id: string }) {
  const range = useRange();
  const one = useResource(`queue ${id}`, signal => get<Queue>(`v1/queues/${encodeURIComponent(id)}`, {}, signal), { every: 3_000 });
  const series = useResource(`series ${id} ${range}`, signal => get<Series>('v1/series', { range, queue: id }, signal), { every: range === '24h' ? 60_000 : 5_000 });
  const workers = useResource('workers', signal => get<{ workers: Worker[] }>('v1/workers', {}, signal), { every: 5_000 });
  const stats = useResource('stats', counters.value ? null : signal => get<Stats>('v1/stats', {}, signal));
  const counted = counters.value ?? stats.data.value;
  const queue = one.data.value && withCounts([one.data.value], counted).find(each => each.name === id);
  const blank = queue !== undefined && isBlank(queue);
  const listed = useResource(`queues ${blank}`, blank ? signal => get<{ queues: Queue[] }>('v1/queues', {}, signal) : null, { every: 3_000 });
  const isListed = listed.data.value?.queues.some(each => each.name === id);
  const error = one.error.value ?? (blank ? listed.error.value : undefined);
  // A name that no queue can have is refused.
  const isMissing = error?.field === 'queue' || (blank && isListed === false);
  useKeys([
    { keys: 'p', says: 'queues.toggle', run: () => queue && !isMissing && !isReadOnly() && void togglePause(queue).then(one.refresh) },
    { keys: 'u', says: 'queue.back', run: () => go(href('queues')) },
  ]);
  return (
    <Page title={<><a class="crumb" href={href('queues')}>{t('nav.queues')}</a> {id}</>} actions={queue && !isMissing && <QueueActs queue={queue} after={one.refresh} />}>
      {!isMissing && <Trouble error={error} retry={() => void (one.error.value ? one : listed).refresh()} />}
      {isMissing ? <NoQueue name={id} workers={workers.data.value?.workers ?? []} /> : !queue || (blank && isListed === undefined) ? !error && <Loading /> : (
        <>
          <p class="queue-line"><QueueState queue={queue} /></p>
          <Numbers queue={queue} />
          <Section title={t('queue.types')} actions={<><a href={href('failures', { q: `queue:${quote(id)}` })}>{t('queue.failures')}</a><a href={href('system', { tab: 'audit', target: `queue:${id}` })}>{t('queue.audit')}</a></>}>
            <Types rows={counted?.queues.filter(row => row.queue === id) ?? []} />
          </Section>
          <Section title={t('queue.workers')}>
            {workers.data.value ? <Servers name={id} workers={workers.data.value.workers} /> : <Loading />}
          </Section>
          <div class="charts-head"><RangeSwitch /></div>
          {series.data.value ? <Outcomes series={series.data.value} /> : series.error.value ? <Trouble error={series.error.value} retry={() => void series.refresh()} /> : <Loading />}
        </>
      )}
    </Page>
  );
}
