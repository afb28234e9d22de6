import { Act, clock, Command, Empty, Loading, Page, Since, Trouble } from '../components/basics';
import { get, post } from '../lib/api';
import { quote } from '../lib/filter';
import { number } from '../lib/format';
import { t } from '../lib/i18n';
import { held } from '../lib/may';
import { isSilent } from '../lib/needs';
import { ask, attempt } from '../lib/notices';
import { serverAddress } from '../lib/place';
import { useResource } from '../lib/resource';
import type { Worker } from '../lib/types';
import { href, param, setParams } from '../lib/url';

/** More boxes than this are a bar. */
const MOST_BOXES = 40;
const MOST_SHOWN = 200;

export function Slots({ used, slots }: { used: number; slots: number }) {
  const says = t('workers.slots', { used: number(used), slots: number(slots) });
  return (
    <span class="slots">
      <span class="slots-strip" role="img" aria-label={says} title={says}>
        {slots <= MOST_BOXES ? Array.from({ length: slots }, (_, at) => <span class={at < used ? 'slot used' : 'slot'} />) : <progress class="slots-bar" max={slots} value={used} aria-hidden="true" />}
      </span>
      <span class="slots-text" aria-hidden="true">{number(used)} / {number(slots)}</span>
    </span>
  );
}

/** A second ago is now: a number that changes all the time says no more. */
function Heard({ at }: { at: string }) {
  return clock.value - Date.parse(at) < 3_000 ? <time dateTime={at}>{t('workers.now')}</time> : <Since at={at} />;
}

async function drain(worker: Worker): Promise<void> {
  const said = await ask({ title: t('workers.drain_ask', { worker: worker.name }), body: t('workers.drain_body', { n: worker.running ?? 0 }), verb: t('workers.drain'), reason: true });
  if (said) await attempt(() => post(`v1/workers/${encodeURIComponent(worker.name)}/drain`, said.reason === '' ? {} : { reason: said.reason }), () => t('workers.drained', { worker: worker.name }));
}

function One({ worker, after }: { worker: Worker; after(): unknown }) {
  const silent = isSilent(worker, clock.value);
  const running = href('tasks', { q: `worker:${quote(worker.name)} state:running,accepted,dispatched` });
  return (
    <li class={silent ? 'section worker silent' : 'section worker'}>
      <div class="worker-who">
        <h2>{worker.name}{silent && <span class="tag">{t('workers.silent')}</span>}</h2>
        <span class="muted">{worker.kind === 'http' ? t('workers.http') : t('workers.stream')} · {worker.address}</span>
        {Object.entries(worker.labels ?? {}).length + (worker.models ?? []).length > 0 && (
          <ul class="bits">
            {Object.entries(worker.labels ?? {}).map(([name, value]) => <li class="bit">{name}={value}</li>)}
            {(worker.models ?? []).map(model => <li class="bit">{model}</li>)}
          </ul>
        )}
      </div>
      <div class="worker-slots">
        {worker.slots === null || worker.slots === undefined ? <span class="muted">{t('workers.slots_unknown')}</span> : <Slots used={worker.running ?? 0} slots={worker.slots} />}
        <a href={running}>{worker.running === null ? t('workers.running_unknown') : t('workers.running', { n: worker.running })}</a>
      </div>
      <dl class="worker-facts">
        <div><dt>{t('workers.heard')}</dt><dd>{silent ? <span class="sign warn-text">◆ <Since at={worker.last_seen} /></span> : <Heard at={worker.last_seen} />}</dd></div>
        <div><dt>{t('workers.since')}</dt><dd><Since at={worker.connected_at} /></dd></div>
        <div><dt>{t('nav.queues')}</dt><dd class="inline-list">{worker.queues.map(queue => <a href={href(`queues/${encodeURIComponent(queue)}`)}>{queue}</a>)}</dd></div>
        <div><dt>{t('workers.instance')}</dt><dd><a class="id" href={href('system')}>{worker.instance}</a></dd></div>
      </dl>
      <div class="worker-act">
        {worker.draining ? <span class="sign wait-text">‖ {t('workers.draining')}</span>
          : worker.kind === 'http' ? <span class="muted" title={t('workers.http_drain')}>–</span>
          : <Act run={async () => { await drain(worker); after(); }} {...held()}>{t('workers.drain')}<span class="sr"> {worker.name}</span></Act>}
      </div>
    </li>
  );
}

function fits(worker: Worker, text: string): boolean {
  const all = [worker.name, worker.instance, worker.address, ...worker.queues, ...(worker.models ?? []), ...Object.entries(worker.labels ?? {}).map(pair => pair.join('='))];
  return all.some(one => one.toLowerCase().includes(text.toLowerCase()));
}

function HowToStart({ queue }: { queue: string }) {
  return (
    <>
      <Command text={`holdfast work --server ${serverAddress()} --queue ${queue} --slots 4 -- ./handle.sh`} />
      <p>{t('workers.start_note')}</p>
    </>
  );
}

export default function Workers() {
  const list = useResource('workers', signal => get<{ workers: Worker[] }>('v1/workers', {}, signal), { every: 2_000 });
  const workers = list.data.value?.workers;
  const text = param('q');
  const missing = param('queue');
  const shown = workers?.filter(worker => fits(worker, text)).sort((a, b) => a.name.localeCompare(b.name, 'en')) ?? [];
  return (
    <Page
      title={t('nav.workers')} wide
      actions={workers && workers.length > 0 && <input type="search" class="worker-filter" aria-label={t('workers.filter')} placeholder={t('workers.filter')} value={text} onInput={event => setParams({ q: event.currentTarget.value }, 'replace')} />}
    >
      <Trouble error={list.error.value} retry={() => void list.refresh()} />
      {missing !== '' && workers && !workers.some(worker => worker.queues.includes(missing)) && (
        <div class="section start-worker"><h2>{t('need.no_worker', { queue: missing })}</h2><HowToStart queue={missing} /></div>
      )}
      {!workers ? !list.error.value && <Loading />
        : workers.length === 0 ? missing === '' && <Empty title={t('workers.none')}><HowToStart queue="default" /></Empty>
        : shown.length === 0 ? <Empty title={t('workers.no_match')}><button type="button" onClick={() => setParams({ q: null })}>{t('workers.show_all')}</button></Empty>
        : <ul class="workers">{shown.slice(0, MOST_SHOWN).map(worker => <One key={`${worker.instance} ${worker.name} ${worker.address}`} worker={worker} after={list.refresh} />)}</ul>}
      {shown.length > MOST_SHOWN && <p class="muted">{t('workers.more', { n: shown.length - MOST_SHOWN })}</p>}
    </Page>
  );
}
