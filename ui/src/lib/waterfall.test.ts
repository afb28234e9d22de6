import { describe, expect, test } from 'vitest';
import type { State, Transition } from './types';
import { waterfall } from './waterfall';

const start = Date.parse('2026-11-17T12:00:00Z');
const step = (second: number, event: string, from: State | null, to: State, attempt: number, message = ''): Transition => ({
  event, from, to, attempt, message, at: new Date(start + second * 1_000).toISOString(), error: event === 'failed' ? { kind: 'transient', message: '429' } : null,
});
const HISTORY = [
  step(0, 'submitted', null, 'queued', 0),
  step(2, 'claimed', 'queued', 'running', 1),
  step(5, 'checkpointed', 'running', 'running', 1, 'script'),
  step(8, 'failed', 'running', 'retrying', 1),
  step(608, 'woken', 'retrying', 'queued', 1),
  step(610, 'claimed', 'queued', 'running', 2),
  step(614, 'completed', 'running', 'succeeded', 2),
];

describe('the waterfall', () => {
  test('has a lane for each attempt, with the wait that led to it', () => {
    const { lanes } = waterfall(HISTORY, start + 900_000, false);
    expect(lanes.map(lane => [lane.attempt, lane.waited / 1_000, lane.ran / 1_000, lane.ended, lane.error])).toEqual([
      [1, 2, 6, 'failed', '429'],
      [2, 602, 4, 'completed', undefined],
    ]);
    expect(lanes[1]!.spans.map(span => span.state)).toEqual(['retrying', 'queued', 'running']);
  });
  test('fills the axis from end to end without a gap', () => {
    for (const collapse of [false, true]) {
      const spans = waterfall(HISTORY, start, collapse).lanes.flatMap(lane => lane.spans);
      let at = 0;
      for (const span of spans) {
        expect(span.left).toBeCloseTo(at);
        at += span.width;
      }
      expect(at).toBeCloseTo(1);
    }
  });
  test('draws a long wait short when idle time is collapsed, and what worked wide', () => {
    const wide = waterfall(HISTORY, start, false);
    const short = waterfall(HISTORY, start, true);
    const widthOf = (fall: typeof wide, state: string) => fall.lanes.flatMap(lane => lane.spans).filter(span => span.state === state).reduce((sum, span) => sum + span.width, 0);
    expect(wide.collapsible).toBe(true);
    expect(widthOf(wide, 'retrying')).toBeGreaterThan(0.9);
    expect(widthOf(short, 'retrying')).toBeLessThan(0.25);
    expect(widthOf(short, 'running')).toBeGreaterThan(0.5);
    expect(short.lanes[1]!.spans[0]).toMatchObject({ state: 'retrying', shortened: true });
  });
  test('a checkpoint is a mark inside its attempt', () => {
    const [lane] = waterfall(HISTORY, start, true).lanes;
    const run = lane!.spans.find(span => span.busy)!;
    expect(lane!.marks).toHaveLength(1);
    expect(lane!.marks[0]).toMatchObject({ text: 'script' });
    expect(lane!.marks[0]!.left).toBeCloseTo(run.left + run.width / 2);
  });
  test('what goes on grows until now', () => {
    const { lanes } = waterfall(HISTORY.slice(0, 2), start + 60_000, false);
    expect(lanes[0]!.spans.at(-1)).toMatchObject({ state: 'running', open: true, to: start + 60_000 });
    expect(lanes[0]!.ended).toBeUndefined();
  });
  test('a wait that nobody ended has a lane of its own', () => {
    const { lanes } = waterfall(HISTORY.slice(0, 4), start + 60_000, false);
    expect(lanes.map(lane => lane.attempt)).toEqual([1, 2]);
    expect(lanes[1]!.spans[0]).toMatchObject({ state: 'retrying', open: true });
  });
  test('of nothing is nothing', () => {
    expect(waterfall([], start, true).lanes).toEqual([]);
  });
});
