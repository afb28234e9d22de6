import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ahead, ApiError, get } from './api';

let asked: string[] = [];
let answer: () => Response = () => new Response('{}');

beforeEach(() => {
  asked = [];
  answer = () => new Response(JSON.stringify({ n: asked.length }));
  vi.stubGlobal('fetch', async (where: string) => {
    asked.push(new URL(where).pathname);
    return answer();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('what was asked for ahead is not asked for again, once', async () => {
  await ahead('v1/tasks', { q: 'a' });
  expect(await get('v1/tasks', { q: 'a' })).toEqual({ n: 1 });
  expect(asked.length).toBe(1);
  expect(await get('v1/tasks', { q: 'a' })).toEqual({ n: 2 });
});

test('another question has its own answer', async () => {
  await ahead('v1/tasks', { q: 'a' });
  expect(await get('v1/tasks', { q: 'b' })).toEqual({ n: 2 });
});

test('an answer that waited too long is asked for again', async () => {
  vi.useFakeTimers();
  await ahead('v1/tasks');
  vi.setSystemTime(Date.now() + 60_000);
  expect(await get('v1/tasks')).toEqual({ n: 2 });
});

test('whoever gets it is told of the error, not whoever asked ahead', async () => {
  answer = () => new Response('{"code":"overloaded","detail":"later"}', { status: 503 });
  await ahead('v1/tasks');
  await expect(get('v1/tasks')).rejects.toMatchObject(new ApiError(503, 'overloaded', 'later'));
});

test('a page that has gone gets no answer', async () => {
  const stop = new AbortController();
  const begun = ahead('v1/tasks');
  const got = get('v1/tasks', {}, stop.signal);
  stop.abort();
  await begun;
  await expect(got).rejects.toThrow();
});
