// What may be done to a task, by its state, and doing it to one. The lifecycle is the server's; here it is only known
// which buttons make sense.
import { post } from './api';
import { shortId } from './format';
import { t, word } from './i18n';
import { ask, attempt } from './notices';
import { FINAL, HELD, type State, type TaskHead } from './types';

export type Action = 'resume' | 'pause' | 'cancel' | 'discard';
export const ACTIONS: readonly Action[] = ['resume', 'pause', 'cancel', 'discard'];

interface Acted {
  id: string;
  state: State;
  cancel_requested?: boolean;
  pause_requested?: boolean;
}

export function may(action: Action, task: Pick<TaskHead, 'state' | 'pause_requested' | 'cancel_requested'>): boolean {
  const isHeld = HELD.includes(task.state);
  switch (action) {
    case 'resume':
      return ['waiting', 'retrying', 'paused', 'suspended'].includes(task.state) || (isHeld && task.pause_requested === true);
    case 'pause':
      return ['waiting', 'queued', 'retrying'].includes(task.state) || (isHeld && !task.pause_requested);
    case 'cancel':
      return !FINAL.includes(task.state) && !(isHeld && task.cancel_requested === true);
    case 'discard':
      return !FINAL.includes(task.state) && !isHeld;
  }
}

/** Resuming is named by what it does from there. */
export function resumeName(state: State): string {
  return state === 'retrying' ? t('act.retry_now') : state === 'waiting' ? t('act.run_now') : t('act.resume');
}
export function actionName(action: Action): string {
  return word('act', action);
}

/** The new state, not "ok": what really happened. */
export function becameText(acted: Acted): string {
  if (acted.cancel_requested) return t('act.cancel_asked');
  if (acted.pause_requested) return t('act.pause_asked');
  return t('act.became', { id: shortId(acted.id), state: word('state', acted.state) });
}

/** Asks where it cannot be undone, does it, says what became of it. True when it was done. */
export async function actOnOne(action: Action, task: Pick<TaskHead, 'id' | 'type'>): Promise<boolean> {
  let reason = '';
  if (action === 'cancel' || action === 'discard') {
    const title = action === 'cancel' ? t('act.cancel_this', { id: shortId(task.id) }) : t('act.discard_this', { id: shortId(task.id) });
    const answer = await ask({ title, body: action === 'cancel' ? t('act.cancel_says') : t('act.discard_says'), verb: actionName(action), tone: 'bad', reason: true });
    if (!answer) return false;
    reason = answer.reason;
  }
  const acted = await attempt(() => post<Acted>(`v1/tasks/${task.id}/${action}`, reason === '' ? {} : { reason }), becameText);
  return acted !== undefined;
}
