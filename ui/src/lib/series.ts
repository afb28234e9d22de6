// Numbers over time: what charts draw, what tiles sum up.
import type { Series } from './types';

export const RANGES = ['15m', '1h', '24h'] as const;
export type Range = (typeof RANGES)[number];
export type Numbers = readonly (number | null)[];

/** From the bottom of the stack to its top. */
export const OUTCOMES = ['succeeded', 'cancelled', 'discarded', 'suspended', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const UNIT: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** "10s", "1m30s" → seconds. */
export function seconds(text: string): number {
  let total = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ms|[smhd])/g)) total += Number(count) * UNIT[unit!]!;
  return total;
}

/** When each interval begins, in seconds, as uPlot wants it. */
export function times(series: Pick<Series, 'start' | 'step'>, length: number): number[] {
  const start = Date.parse(series.start) / 1000;
  const step = seconds(series.step);
  return Array.from({ length }, (_, at) => start + at * step);
}

/** Each row on top of those before it. */
export function stack(rows: readonly (readonly number[])[]): number[][] {
  const below: number[] = [];
  return rows.map(row => row.map((value, at) => (below[at] = (below[at] ?? 0) + value)));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** How many of `row` there were per second, over about the last `span` seconds. The running interval counts only while it is all there is. */
export function recentRate(series: Pick<Series, 'start' | 'step'>, row: readonly number[], span: number, now: number): number {
  const step = seconds(series.step);
  if (row.length === 0 || !(step > 0)) return 0;
  const whole = Math.max(1, Math.round(span / step));
  const begun = Date.parse(series.start) / 1000 + (row.length - 1) * step;
  const elapsed = Math.min(step, Math.max(0, now / 1000 - begun));
  const past = row.slice(0, -1).slice(-whole);
  const time = past.length * step + elapsed;
  return time > 0 ? (sum(past) + row.at(-1)!) / time : 0;
}

/** The newest one that is there. */
export function newest(values: Numbers): number | null {
  return values.findLast(value => value !== null) ?? null;
}

/** The share of what ended badly or waits for a person among all that ended; null when nothing did. */
export function badShare(series: Pick<Series, Outcome>): number | null {
  const bad = sum(series.failed) + sum(series.suspended);
  const all = bad + sum(series.succeeded);
  return all > 0 ? bad / all : null;
}

/** What came to an end, per interval. */
export function ended(series: Pick<Series, Outcome>): number[] {
  return series.succeeded.map((n, at) => n + (series.failed[at] ?? 0) + (series.cancelled[at] ?? 0) + (series.discarded[at] ?? 0));
}
