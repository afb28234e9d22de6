// An act on many: first what would happen, then the act, then how far it is.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get, post } from '../lib/api';
import type { Action } from '../lib/acts';
import { number } from '../lib/format';
import { t, word } from '../lib/i18n';
import { attempt } from '../lib/notices';
import type { BulkReport } from '../lib/types';
import { href } from '../lib/url';
import { Loading, TaskLink, Trouble } from './basics';
import { Dialog } from './Dialog';

/** Everything that matches a query, or just these. */
export type BulkTarget = { q: string } | { ids: readonly string[] };
export interface BulkAsk {
  action: Action;
  target: BulkTarget;
}

/** From so many on what cannot be undone asks for the number. */
const TYPED_FROM = 10;
const MOST_REASONS = 8;

function bodyOf({ action, target }: BulkAsk, more: object): object {
  return { action, ...('q' in target ? { filter: { q: target.q } } : { ids: target.ids }), ...more };
}

function reasonsOf(report: BulkReport): [string, number][] {
  const by: Record<string, number> = { ...report.refused_by };
  if (!report.refused_by) for (const one of report.refused) by[one.reason] = (by[one.reason] ?? 0) + 1;
  return Object.entries(by).sort((a, b) => b[1] - a[1]);
}
function refusedCount(report: BulkReport): number {
  return report.refused_count ?? report.refused.length;
}

function Refused({ report, before }: { report: BulkReport; before: boolean }) {
  const count = refusedCount(report);
  if (count === 0) return null;
  return (
    <div class="refused">
      <p class="warn-text">{before ? t('bulk.cannot', { n: count }) : t('bulk.refused', { n: count })}</p>
      <ul>
        {reasonsOf(report).slice(0, MOST_REASONS).map(([reason, many]) => <li>{`${number(many)} × ${reason}`}</li>)}
      </ul>
      {!before && report.refused.length > 0 && (
        <details>
          <summary>{t('bulk.which')}</summary>
          <ul class="refused-list">{report.refused.map(one => <li><TaskLink id={one.id} /> <span class="muted">{one.reason}</span></li>)}</ul>
        </details>
      )}
    </div>
  );
}

/** The job goes on without us; this looks at it twice a second. */
function Progress({ report, expected, onReport }: { report: BulkReport; expected: number; onReport(report: BulkReport): void }) {
  const id = report.bulk_id!;
  const going = report.state === 'running';
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => {
      void get<BulkReport>(`v1/bulk/${id}`).then(onReport, () => undefined);
    }, 500);
    return () => clearInterval(timer);
  }, [id, going]);
  const act = (verb: string) => () => void attempt(() => post<BulkReport>(`v1/bulk/${id}/${verb}`)).then(next => next && onReport(next));
  const part = expected > 0 ? Math.min(1, report.matched / expected) : 1;
  return (
    <div class="bulk-progress">
      <progress max={1} value={part} aria-label={t('bulk.progress')} />
      <p role="status">{t('bulk.so_far', { done: report.done, all: Math.max(expected, report.matched), state: word('state', report.state ?? 'running') })}</p>
      {(going || report.state === 'paused') && (
        <div class="row">
          {going ? <button type="button" onClick={act('pause')}>{t('bulk.pause')}</button> : <button type="button" onClick={act('resume')}>{t('bulk.go_on')}</button>}
          <button type="button" class="bad" onClick={act('stop')}>{t('bulk.stop')}</button>
          <span class="muted">{going ? t('bulk.goes_on') : t('bulk.stays')} <a href={href('system', { tab: 'bulk' })}>{t('bulk.jobs')}</a></span>
        </div>
      )}
    </div>
  );
}

export function BulkDialog({ ask, onClose, onDone }: { ask: BulkAsk; onClose(): void; onDone(): void }) {
  const [plan, setPlan] = useState<BulkReport>();
  const [report, setReport] = useState<BulkReport>();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const [rate, setRate] = useState('');

  const send = async (more: object): Promise<BulkReport | undefined> => {
    setError(undefined);
    try {
      return await post<BulkReport>('v1/tasks/bulk', bodyOf(ask, more));
    } catch (problem) {
      setError(problem instanceof ApiError ? problem : new ApiError(0, 'error', String(problem)));
      return undefined;
    }
  };
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), [plan]);
  const rehearse = () => void send({ dry_run: true }).then(setPlan);
  useEffect(rehearse, []);

  const many = plan?.done ?? 0;
  const mustType = (ask.action === 'discard' || ask.action === 'cancel') && many >= TYPED_FROM;
  const perSecond = Number(rate);
  const rateOk = rate === '' || (Number.isFinite(perSecond) && perSecond > 0);
  const ready = plan !== undefined && many > 0 && rateOk && (!mustType || typed.normalize('NFKC').replace(/[\s,.]/g, '') === String(many));
  const start = async () => {
    setBusy(true);
    const done = await send({ ...(reason.trim() === '' ? {} : { reason: reason.trim() }), ...(rate === '' ? {} : { rate: perSecond }) });
    setBusy(false);
    if (!done) return;
    setReport(done);
    onDone();
  };
  const take = (next: BulkReport) => {
    setReport(next);
    if (next.state !== 'running') onDone();
  };
  const isOver = report !== undefined && !(report.bulk_id && (report.state === 'running' || report.state === 'paused'));
  return (
    <Dialog title={word('bulk_title', ask.action)} onClose={onClose}>
      <Trouble error={error} {...(plan ? {} : { retry: rehearse })} />
      {!plan && !error && <Loading />}
      {plan && !report && (
        <form onSubmit={event => {
          event.preventDefault();
          if (ready && !busy) void start();
        }}>
          <p class="bulk-plan">{word('bulk_action', ask.action, { n: many })}</p>
          <Refused report={plan} before />
          {'q' in ask.target && <p class="muted">{t('bulk.snapshot')}</p>}
          {many > 0 && (
            <>
              <label>
                {t('ask.reason')}
                <input ref={first} value={reason} maxLength={1000} onInput={event => setReason(event.currentTarget.value)} />
              </label>
              {'q' in ask.target && (
                <label>
                  {t('bulk.rate')}
                  <input value={rate} inputMode="decimal" placeholder={t('bulk.rate_none')} aria-invalid={!rateOk} onInput={event => setRate(event.currentTarget.value)} />
                  {!rateOk && <span class="bad-text" role="alert">{t('bulk.rate_bad')}</span>}
                </label>
              )}
              {mustType && (
                <label>
                  {t('ask.type', { text: String(many) })}
                  <input value={typed} autocomplete="off" inputMode="numeric" onInput={event => setTyped(event.currentTarget.value)} />
                </label>
              )}
            </>
          )}
          <div class="dialog-actions">
            <button type="button" onClick={onClose}>{t('common.back')}</button>
            <button type="submit" class={ask.action === 'discard' || ask.action === 'cancel' ? 'bad' : 'main'} disabled={!ready || busy} aria-busy={busy}>{word('bulk_do', ask.action, { n: many })}</button>
          </div>
        </form>
      )}
      {report && (
        <>
          {report.bulk_id ? <Progress report={report} expected={plan?.matched ?? 0} onReport={take} /> : <p role="status" class="ok-text">{t('bulk.done', { n: report.done })}</p>}
          {isOver && report.bulk_id && <p class="ok-text">{t('bulk.done', { n: report.done })}</p>}
          <Refused report={report} before={false} />
          <div class="dialog-actions"><button type="button" class="main" onClick={onClose}>{t('common.close')}</button></div>
        </>
      )}
    </Dialog>
  );
}
