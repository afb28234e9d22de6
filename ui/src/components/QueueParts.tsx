// What the list of queues, one queue and the overview show alike of a queue.
import { useState } from 'preact/hooks';
import { put } from '../lib/api';
import { quote } from '../lib/filter';
import { number } from '../lib/format';
import { t } from '../lib/i18n';
import { held } from '../lib/may';
import { attempt } from '../lib/notices';
import { toggleClosed, togglePause } from '../lib/queueActs';
import { underWay } from '../lib/queues';
import type { Queue } from '../lib/types';
import { href } from '../lib/url';
import { Act, Since } from './basics';
import { Dialog } from './Dialog';

/** "paused 2h 4m by lin: bad model" */
function Why({ since, by, reason }: { since: string | null | undefined; by: string | null | undefined; reason: string | null | undefined }) {
  return (
    <span class="why">
      {since && <> <Since at={since} /></>}
      {by && <> {t('queue.by', { who: by })}</>}
      {reason && <span class="reason"> “{reason}”</span>}
    </span>
  );
}

export function QueueState({ queue }: { queue: Queue }) {
  if (!queue.paused && !queue.closed) return <span class="sign ok-text">● {t('queue.is_open')}</span>;
  return (
    <span class="queue-state">
      {queue.paused && <span><span class="sign wait-text">‖ {t('queue.is_paused')}</span><Why since={queue.paused_at} by={queue.paused_by} reason={queue.paused_reason} /></span>}
      {queue.closed && <span><span class="sign warn-text">⊘ {t('queue.is_closed')}</span><Why since={queue.closed_at} by={queue.closed_by} reason={queue.closed_reason} /></span>}
    </span>
  );
}

export function limitText(queue: Queue): string {
  return queue.concurrency > 0 ? number(queue.concurrency) : '∞';
}

export function Running({ queue }: { queue: Queue }) {
  return <a href={href('tasks', { q: `queue:${quote(queue.name)} state:running,accepted,dispatched` })}>{number(underWay(queue.tasks))}<span class="limit muted"> / {limitText(queue)}</span></a>;
}

function LimitsDialog({ queue, onClose, onDone }: { queue: Queue; onClose(): void; onDone(): void }) {
  const [concurrency, setConcurrency] = useState(String(queue.concurrency));
  const [perSecond, setPerSecond] = useState(String(queue.rate));
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    const body = { concurrency: Number(concurrency), rate: Number(perSecond), ...(reason.trim() === '' ? {} : { reason: reason.trim() }) };
    const done = await attempt(() => put<Queue>(`v1/queues/${encodeURIComponent(queue.name)}/limits`, body), () => t('queue.limited_done', { queue: queue.name }));
    setBusy(false);
    if (done) onDone();
  };
  return (
    <Dialog title={t('queue.limits_ask', { queue: queue.name })} onClose={onClose}>
      <form onSubmit={event => { event.preventDefault(); void send(); }}>
        <label>
          {t('queue.concurrency')}
          <input type="number" inputMode="numeric" min={0} max={1_000_000} step={1} required value={concurrency} onInput={event => setConcurrency(event.currentTarget.value)} />
        </label>
        <label>
          {t('queue.rate')}
          <input type="number" inputMode="decimal" min={0} step="any" required value={perSecond} onInput={event => setPerSecond(event.currentTarget.value)} />
        </label>
        <p class="muted">{t('queue.limits_note')}</p>
        <label>
          {t('ask.reason')}
          <input value={reason} maxLength={1000} onInput={event => setReason(event.currentTarget.value)} />
        </label>
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>{t('common.back')}</button>
          <button type="submit" class="main" disabled={busy} aria-busy={busy}>{t('queue.limits_set')}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** The queue's buttons; `after` reads again what is shown. */
export function QueueActs({ queue, after, small = false }: { queue: Queue; after(): unknown; small?: boolean }) {
  const [limiting, setLimiting] = useState(false);
  const named = (verb: string) => <>{verb}<span class="sr"> {queue.name}</span></>;
  return (
    <span class={small ? 'queue-acts small' : 'queue-acts'}>
      <Act run={async () => { await togglePause(queue); after(); }} {...held()}>{named(queue.paused ? t('queue.resume') : t('queue.pause'))}</Act>
      <Act run={async () => { await toggleClosed(queue); after(); }} {...held()}>{named(queue.closed ? t('queue.open') : t('queue.close'))}</Act>
      <button type="button" onClick={() => setLimiting(true)} {...held()}>{named(t('queue.limits'))}</button>
      {limiting && <LimitsDialog queue={queue} onClose={() => setLimiting(false)} onDone={() => { setLimiting(false); after(); }} />}
    </span>
  );
}
