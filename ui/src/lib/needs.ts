// What a person should look at now, the gravest first. Decided from what the server says, without asking it anything.
import type { FailureGroup, Queue, Readiness, Worker } from './types';

export type Need =
  | { is: 'problem'; text: string; doctor: boolean }
  | { is: 'group'; group: FailureGroup }
  | { is: 'groups'; more: number }
  | { is: 'no_worker'; queue: string; waiting: number; since: string | null }
  | { is: 'silent'; worker: string; since: string; running: number }
  | { is: 'paused'; queue: Queue }
  | { is: 'closed'; queue: Queue };

export interface Facts {
  readiness?: Readiness | undefined;
  groups?: readonly FailureGroup[] | undefined;
  queues?: readonly Queue[] | undefined;
  workers?: readonly Worker[] | undefined;
  now: number;
}

/** A worker may wait a minute for a task without a word. */
export const SILENT_AFTER = 90_000;
const MOST_GROUPS = 3;

/** Whoever holds a long lease need not say anything before it ends. */
export function isSilent(worker: Pick<Worker, 'last_seen' | 'busy_until'>, now: number): boolean {
  return now - Date.parse(worker.last_seen) > SILENT_AFTER && !(worker.busy_until && Date.parse(worker.busy_until) > now);
}

function problems(readiness: Readiness | undefined): Need[] {
  if (!readiness) return [];
  const texts = [...readiness.problems ?? []];
  if (readiness.status === 'unavailable' && readiness.detail) texts.unshift(readiness.detail);
  return texts.map(text => ({ is: 'problem', text, doctor: text.includes('doctor') }));
}

/** The largest of those that a person can still do something about; the rest is one line. */
function failing(groups: readonly FailureGroup[]): Need[] {
  const open = groups.filter(group => group.open > 0).sort((a, b) => b.open - a.open || (a.fingerprint < b.fingerprint ? -1 : 1));
  const shown: Need[] = open.slice(0, MOST_GROUPS).map(group => ({ is: 'group', group }));
  if (open.length > MOST_GROUPS) shown.push({ is: 'groups', more: open.length - MOST_GROUPS });
  return shown;
}

function unserved(queues: readonly Queue[], workers: readonly Worker[], now: number): Need[] {
  const served = new Set(workers.filter(worker => !worker.draining && !isSilent(worker, now)).flatMap(worker => worker.queues));
  return queues
    .filter(queue => queue.tasks.queued > 0 && !queue.paused && !served.has(queue.name))
    .sort((a, b) => b.tasks.queued - a.tasks.queued)
    .map(queue => ({ is: 'no_worker', queue: queue.name, waiting: queue.tasks.queued, since: queue.oldest_at ?? null }));
}

export function needs({ readiness, groups = [], queues = [], workers, now }: Facts): Need[] {
  return [
    ...problems(readiness),
    ...failing(groups),
    // Until the workers are known nobody is said to be missing.
    ...(workers ? unserved(queues, workers, now) : []),
    ...(workers ?? []).filter(worker => isSilent(worker, now)).map(worker => ({ is: 'silent', worker: worker.name, since: worker.last_seen, running: worker.running ?? 0 }) as const),
    ...queues.filter(queue => queue.paused).map(queue => ({ is: 'paused', queue }) as const),
    ...queues.filter(queue => queue.closed).map(queue => ({ is: 'closed', queue }) as const),
  ];
}
