// What a person is told after an act, and what he is asked before one.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ApiError } from './api';
import { t, word } from './i18n';

export interface Toast {
  n: number;
  tone: 'ok' | 'bad' | 'info';
  text: ComponentChildren;
}
export const toasts = signal<readonly Toast[]>([]);
let next = 0;

export function toast(text: ComponentChildren, tone: Toast['tone'] = 'ok'): void {
  const n = next++;
  toasts.value = [...toasts.value, { n, tone, text }];
  setTimeout(() => dismiss(n), tone === 'bad' ? 12_000 : 5_000);
}
export function dismiss(n: number): void {
  toasts.value = toasts.value.filter(one => one.n !== n);
}

/** "wrong_state: the task is running": the code in words, the detail as the server said it. */
export function explainError(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  if (error.unreachable) return t('error.unreachable');
  const title = word('code', error.code);
  return title === error.code ? error.detail : `${title}: ${error.detail}`;
}

/** Does it, and says what became of it; gives undefined when it failed. */
export async function attempt<T>(act: () => Promise<T>, done?: (answer: T) => ComponentChildren): Promise<T | undefined> {
  try {
    const answer = await act();
    if (done) toast(done(answer));
    return answer;
  } catch (error) {
    toast(explainError(error), 'bad');
    return undefined;
  }
}

export interface Question {
  title: string;
  body?: ComponentChildren;
  /** The button that does it. */
  verb: string;
  tone?: 'bad' | 'usual';
  /** Must be typed before: for what cannot be undone. */
  typed?: string;
  /** Asks for a reason, which is kept in the audit. */
  reason?: boolean | 'required';
  answer(result: { reason: string } | undefined): void;
}
export const question = signal<Question | undefined>(undefined);

/** Asks; gives undefined when the person thought better of it. */
export function ask(what: Omit<Question, 'answer'>): Promise<{ reason: string } | undefined> {
  return new Promise(resolve => {
    question.value = {
      ...what,
      answer: result => {
        question.value = undefined;
        resolve(result);
      },
    };
  });
}
