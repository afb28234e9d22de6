// A task's history as spans of time: what it waited for, who had it, how each attempt ended. A task is in one state at
// a time, so the spans follow each other without a gap.
import type { State, Transition } from './types';

export interface Span {
  state: State;
  /** Somebody had it; otherwise it waited. */
  busy: boolean;
  from: number;
  to: number;
  /** It still goes on. */
  open: boolean;
  /** Where it stands on the axis, 0 to 1. */
  left: number;
  width: number;
  /** A long wait that is drawn short. */
  shortened: boolean;
}
export interface Mark {
  at: number;
  left: number;
  text: string;
}
export interface Lane {
  attempt: number;
  spans: Span[];
  marks: Mark[];
  waited: number;
  ran: number;
  /** The event that ended it: completed, failed, lease_ended…; none while it goes on. */
  ended: string | undefined;
  error: string | undefined;
}
export interface Waterfall {
  lanes: Lane[];
  from: number;
  to: number;
  /** Some wait is drawn shorter than it was, or would be. */
  collapsible: boolean;
}

const BUSY: readonly string[] = ['dispatched', 'accepted', 'running'];
const OVER: readonly string[] = ['succeeded', 'failed', 'cancelled', 'discarded'];
/** A collapsed wait takes about this much of the axis, as long as there are few. */
const WAIT_SHARE = 0.12;

/** The spans and to which attempt they lead. */
function spansOf(history: readonly Transition[], now: number): { span: Span; attempt: number }[] {
  const out: { span: Span; attempt: number }[] = [];
  history.forEach((step, at) => {
    if (OVER.includes(step.to)) return;
    const from = Date.parse(step.at);
    const next = history[at + 1];
    const to = next ? Date.parse(next.at) : Math.max(now, from);
    const busy = BUSY.includes(step.to);
    const last = out.at(-1);
    // A wait leads to the next attempt; what is held belongs to its own.
    const attempt = busy ? step.attempt : step.attempt + 1;
    if (last && last.span.state === step.to && last.attempt === attempt) {
      last.span.to = to;
      last.span.open = !next;
    } else if (to > from || !next) {
      out.push({ span: { state: step.to, busy, from, to, open: !next, left: 0, width: 0, shortened: false }, attempt });
    }
  });
  return out;
}

/** Gives every span its place; waits take at most their share when idle time is collapsed. */
function place(spans: readonly Span[], collapse: boolean): boolean {
  const busy = spans.reduce((sum, span) => sum + (span.busy ? span.to - span.from : 0), 0);
  const cap = busy > 0 ? (busy * WAIT_SHARE) / (1 - Math.min(0.8, WAIT_SHARE * spans.filter(span => !span.busy).length)) : Infinity;
  const isLong = (span: Span) => !span.busy && span.to - span.from > cap;
  const weight = (span: Span) => (collapse && isLong(span) ? cap : span.to - span.from);
  const total = spans.reduce((sum, span) => sum + weight(span), 0) || 1;
  let left = 0;
  for (const span of spans) {
    span.left = left;
    span.width = weight(span) / total;
    span.shortened = collapse && isLong(span);
    left += span.width;
  }
  return spans.some(isLong);
}

const within = (span: Span, at: number) => (span.to > span.from ? span.left + (span.width * (at - span.from)) / (span.to - span.from) : span.left);

export function waterfall(history: readonly Transition[], now: number, collapse: boolean): Waterfall {
  const all = spansOf(history, now);
  const spans = all.map(one => one.span);
  const collapsible = place(spans, collapse);
  const lanes = new Map<number, Lane>();
  const lane = (attempt: number) => {
    let found = lanes.get(attempt);
    if (!found) lanes.set(attempt, (found = { attempt, spans: [], marks: [], waited: 0, ran: 0, ended: undefined, error: undefined }));
    return found;
  };
  for (const { span, attempt } of all) {
    const one = lane(attempt);
    one.spans.push(span);
    if (span.busy) one.ran += span.to - span.from;
    else one.waited += span.to - span.from;
  }
  for (const step of history) {
    const one = lanes.get(step.attempt);
    if (!one) continue;
    if (step.event === 'checkpointed') {
      const at = Date.parse(step.at);
      const span = one.spans.find(span => span.busy && span.from <= at && at <= span.to);
      if (span) one.marks.push({ at, left: within(span, at), text: step.message ?? '' });
    }
    if (step.from !== null && BUSY.includes(step.from) && !BUSY.includes(step.to)) {
      one.ended = step.event;
      one.error = step.error?.message;
    }
  }
  const ordered = [...lanes.values()].sort((a, b) => a.attempt - b.attempt);
  return { lanes: ordered, from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0, collapsible };
}
