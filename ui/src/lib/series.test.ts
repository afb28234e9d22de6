import { expect, test } from 'vitest';
import { badShare, ended, newest, recentRate, seconds, stack, times } from './series';

test('a step is read in any unit', () => {
  expect([seconds('10s'), seconds('10m'), seconds('1m30s'), seconds('500ms')]).toEqual([10, 600, 90, 0.5]);
});

test('intervals begin one step after the other', () => {
  expect(times({ start: '1970-01-01T00:01:00.000Z', step: '30s' }, 3)).toEqual([60, 90, 120]);
});

test('each row of a stack lies on those before it, and the rows are left as they were', () => {
  const rows = [[1, 2], [3, 0], [0, 5]];
  expect(stack(rows)).toEqual([[1, 2], [4, 2], [4, 7]]);
  expect(rows).toEqual([[1, 2], [3, 0], [0, 5]]);
});

const minute = { start: '1970-01-01T00:00:00.000Z', step: '10s' };

test('the rate is over the last minute and the interval that runs', () => {
  // Nine intervals; the last began at 80 s and is 5 s old.
  expect(recentRate(minute, [999, 999, 10, 10, 10, 10, 10, 10, 5], 60, 85_000)).toBe(1);
});

test('an interval that has just begun does not drag the rate down', () => {
  expect(recentRate(minute, [10, 10, 10, 10, 10, 10, 0], 60, 60_000)).toBe(1);
});

test('a clock behind the server makes no infinite rate', () => {
  expect(recentRate(minute, [7], 60, -5_000)).toBe(0);
  expect(recentRate(minute, [], 60, 0)).toBe(0);
});

test('the newest value is the last that is there', () => {
  expect(newest([1, 2, null])).toBe(2);
  expect(newest([null])).toBe(null);
  expect(newest([3, 0, null])).toBe(0);
});

const outcomes = { succeeded: [90, 5], failed: [3, 0], suspended: [2, 0], cancelled: [1, 1], discarded: [0, 1] };

test('the share of failures counts what waits for a person, not what somebody cancelled', () => {
  expect(badShare(outcomes)).toBe(0.05);
  expect(badShare({ succeeded: [0], failed: [0], suspended: [0], cancelled: [4], discarded: [0] })).toBe(null);
});

test('what came to an end is everything but what is suspended', () => {
  expect(ended(outcomes)).toEqual([94, 7]);
});
