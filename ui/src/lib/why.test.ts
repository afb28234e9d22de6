import { beforeAll, describe, expect, test } from 'vitest';
import { may } from './acts';
import { loadWords } from './i18n';
import { lang } from './settings';
import { STATES, type State, type Task, type Transition } from './types';
import { whyText, type Explanation } from './why';

const task = (more: Partial<Task>) => ({ id: 'x', type: 'a.b', queue: 'images', state: 'queued', priority: 5, attempt: 1, retry: { count: 2, max: 3, next_attempt_at: null }, worker: null, deadline: null, started_at: null, finished_at: null, ...more }) as Task;
const why = (code: string, wakes_at: string | null = null): Explanation => ({ code, sentence: 'The server says it.', wakes_at, wakes_by: null });
const ended = (event: string) => [{ event, from: 'running', to: 'suspended', attempt: 1, message: null, at: '2026-11-17T12:00:00Z' }] as Transition[];

describe('why a task stands where it stands', () => {
  beforeAll(async () => {
    lang.value = 'en';
    await loadWords();
  });
  test('is told with what the task has', () => {
    expect(whyText(why('in_lane'), task({}), [])).toContain('asks queue images for work may have it (priority 5)');
    expect(whyText(why('backing_off', '2026-11-17T12:00:00Z'), task({ state: 'retrying' }), [])).toContain('failed 2 of 3 times');
    expect(whyText(why('held'), task({ state: 'running', worker: 'gpu-3', started_at: '2026-11-17T12:00:00Z' }), [])).toMatch(/^gpu-3 is running it since .*attempt 1/);
  });
  test('says what suspended it', () => {
    const suspended = task({ state: 'suspended', retry: { count: 3, max: 3, next_attempt_at: null } });
    expect(whyText(why('suspended'), suspended, ended('failed'))).toContain('failed 3 of 3 times');
    expect(whyText(why('suspended'), task({ state: 'suspended' }), ended('failed'))).toContain('cannot mend');
    expect(whyText(why('suspended'), suspended, ended('timed_out'))).toContain('deadline passed');
    expect(whyText(why('suspended'), suspended, ended('lease_ended'))).toContain('lost with it');
  });
  test("is the server's sentence where the page does not know better", () => {
    expect(whyText(why('a_new_reason'), task({}), [])).toBe('The server says it.');
    expect(whyText(why('held'), task({ state: 'running', worker: null, started_at: '2026-11-17T12:00:00Z' }), [])).toBe('The server says it.');
    expect(whyText(why('delayed'), task({ state: 'waiting' }), [])).toBe('The server says it.');
  });
  test('is told in Chinese too', async () => {
    lang.value = 'zh';
    await loadWords();
    expect(whyText(why('queue_paused'), task({}), [])).toBe('队列 images 已暂停，不派发任务。');
  });
});

test('an act is offered exactly where the lifecycle has a step for it', () => {
  const where = (action: Parameters<typeof may>[0]) => STATES.filter((state: State) => may(action, { state }));
  expect(where('resume')).toEqual(['waiting', 'retrying', 'paused', 'suspended']);
  expect(where('pause')).toEqual(['waiting', 'queued', 'dispatched', 'accepted', 'running', 'retrying']);
  expect(where('cancel')).toEqual(['waiting', 'queued', 'dispatched', 'accepted', 'running', 'retrying', 'paused', 'suspended']);
  expect(where('discard')).toEqual(['waiting', 'queued', 'retrying', 'paused', 'suspended']);
  expect(may('resume', { state: 'running', pause_requested: true })).toBe(true);
  expect(may('cancel', { state: 'running', cancel_requested: true })).toBe(false);
});
