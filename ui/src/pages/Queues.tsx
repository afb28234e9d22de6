import { Empty, Command, Loading, Page, Since, Trouble } from '../components/basics';
import { QueueActs, QueueState, Running } from '../components/QueueParts';
import { Wide } from '../components/Wide';
import { get } from '../lib/api';
import { quote } from '../lib/filter';
import { number, rate } from '../lib/format';
import { t } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { isReadOnly } from '../lib/may';
import { toast } from '../lib/notices';
import { serverAddress } from '../lib/place';
import { togglePause } from '../lib/queueActs';
import { withCounts } from '../lib/queues';
import { useResource } from '../lib/resource';
import { counters } from '../lib/stream';
import type { Queue, State } from '../lib/types';
import { href } from '../lib/url';

const DEPTHS: readonly State[] = ['queued', 'waiting', 'retrying', 'suspended'];
/** What a narrower screen leaves to the queue's own page. */
const TIER: Partial<Record<State, string>> = { waiting: 'only-widest', retrying: 'only-widest', suspended: 'only-wide' };

function Count({ queue, state }: { queue: Queue; state: State }) {
  const n = queue.tasks[state];
  if (n === 0) return <span class="muted">0</span>;
  return <a href={href('tasks', { q: `queue:${quote(queue.name)} state:${state}` })}>{number(n)}</a>;
}

function Row({ queue, after }: { queue: Queue; after(): unknown }) {
  return (
    <tr>
      <th scope="row"><a class="row-link" data-queue={queue.name} href={href(`queues/${encodeURIComponent(queue.name)}`)}>{queue.name}</a><div><QueueState queue={queue} /></div></th>
      {DEPTHS.map(state => <td class={`num ${TIER[state] ?? ''}`}><Count queue={queue} state={state} /></td>)}
      <td class="num nowrap"><Running queue={queue} /></td>
      <td class="num only-widest">{queue.rate_in === undefined ? '–' : rate(queue.rate_in)}</td>
      <td class="num only-widest">{queue.rate_out === undefined ? '–' : rate(queue.rate_out)}</td>
      <td class="num only-wide nowrap"><Since at={queue.oldest_at} /></td>
      <td class="acts"><QueueActs queue={queue} after={after} small /></td>
    </tr>
  );
}

/** The link of the row that has the focus, or the first or last one. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('a.row-link')];
  const at = links.findIndex(link => link.closest('tr')?.contains(document.activeElement));
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}
function focused(): string | undefined {
  return document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a.row-link')?.dataset.queue;
}

export default function Queues() {
  const list = useResource('queues', signal => get<{ queues: Queue[] }>('v1/queues', {}, signal), { every: 3_000 });
  const queues = list.data.value && withCounts(list.data.value.queues, counters.value);
  useKeys([
    { keys: 'j', says: 'queues.next', run: () => step(1) },
    { keys: 'k', says: 'queues.previous', run: () => step(-1) },
    {
      keys: 'p',
      says: 'queues.toggle',
      run: () => {
        const queue = queues?.find(one => one.name === focused());
        if (!queue) toast(t('queues.choose'), 'info');
        else if (!isReadOnly()) void togglePause(queue).then(list.refresh);
      },
    },
  ]);
  return (
    <Page title={t('nav.queues')} wide>
      <Trouble error={list.error.value} retry={() => void list.refresh()} />
      {!queues ? !list.error.value && <Loading />
        : queues.length === 0 ? <Empty title={t('queues.none')}><p>{t('queues.none_why')}</p><Command text={`holdfast submit hello '{}' --queue default --server ${serverAddress()}`} /></Empty>
        : (
          <Wide class="section table-section" label={t('nav.queues')}>
            <table class="queues">
              <thead>
                <tr>
                  <th scope="col">{t('queues.name')}</th>
                  {DEPTHS.map(state => <th scope="col" class={`num ${TIER[state] ?? ''}`}>{t(`state.${state}`)}</th>)}
                  <th scope="col" class="num">{t('tile.running')}</th>
                  <th scope="col" class="num only-widest" title={t('queues.rate_title')}>{t('queues.in')}</th>
                  <th scope="col" class="num only-widest" title={t('queues.rate_title')}>{t('queues.out')}</th>
                  <th scope="col" class="num only-wide">{t('queues.oldest')}</th>
                  <th scope="col" class="acts"><span class="sr">{t('queues.acts')}</span></th>
                </tr>
              </thead>
              <tbody>{queues.map(queue => <Row key={queue.name} queue={queue} after={list.refresh} />)}</tbody>
            </table>
          </Wide>
        )}
    </Page>
  );
}
