// Why a task stands where it stands, in the reader's language. The server's sentence is English; its code and the task
// say the same.
import { shortTime } from './format';
import { t, word, type Key } from './i18n';
import type { Task, Transition } from './types';

export interface Explanation {
  code: string;
  sentence: string;
  wakes_at: string | null;
  wakes_by: string | null;
}

function suspendedKey(task: Task, history: readonly Transition[]): Key {
  const ended = history.findLast(step => step.to === 'suspended')?.event;
  if (ended === 'timed_out') return 'why.suspended_deadline';
  if (ended === 'lease_ended') return 'why.suspended_lost';
  return task.retry.max > 0 && task.retry.count >= task.retry.max ? 'why.suspended_exhausted' : 'why.suspended_permanent';
}

function keyOf(why: Explanation, task: Task, history: readonly Transition[]): string {
  switch (why.code) {
    case 'held':
      return `held_${task.state}`;
    case 'suspended':
      return suspendedKey(task, history).slice(4);
    case 'finished':
      return task.state;
    case 'backing_off':
      return task.retry.count === 0 ? 'backing_off_uncounted' : task.retry.max === 0 ? 'backing_off_unlimited' : 'backing_off';
    default:
      return why.code;
  }
}

export function whyText(why: Explanation, task: Task, history: readonly Transition[]): string {
  const key = `why.${keyOf(why, task, history)}`;
  const at = why.wakes_at ?? task.finished_at ?? task.started_at;
  const moment = why.code === 'held' ? task.started_at : at;
  const vars = { queue: task.queue, priority: task.priority, worker: task.worker ?? '', attempt: task.attempt, count: task.retry.count, max: task.retry.max, at: moment ? shortTime(moment) : '' };
  if (word('why', key.slice(4)) === key.slice(4)) return why.sentence; // a code that this page does not know
  const text = t(key as Key, vars);
  // What it names must be known, or the server says it better.
  if ((/\{worker\}/.test(word('why', key.slice(4))) && !task.worker) || (/\{at\}/.test(word('why', key.slice(4))) && !moment)) return why.sentence;
  return task.deadline && !task.finished_at && why.code !== 'suspended' ? `${text} ${t('why.deadline', { at: shortTime(task.deadline) })}` : text;
}
