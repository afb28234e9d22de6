import { afterEach, describe, expect, test } from 'vitest';
import { bytes, clockTime, duration, fullTime, number, parseDuration, percent, rate, shortId, shortNumber, shortTime, zoneName } from './format';
import { fill } from './i18n';
import { lang, zone } from './settings';

afterEach(() => {
  lang.value = 'en';
  zone.value = 'local';
});

describe('durations', () => {
  test.each([
    [0, '0ms'], [0.25, '0.3ms'], [9.96, '10ms'], [850, '850ms'], [999, '999ms'], [1_000, '1s'], [9_990, '9.9s'], [41_000, '41s'], [59_999, '59s'],
    [60_000, '1m'], [250_000, '4m 10s'], [3_600_000, '1h'], [5_430_000, '1h 30m'], [86_400_000, '1d'], [180_000_000, '2d 2h'], [-2_500, '-2.5s'],
    [Number.NaN, '–'], [Number.POSITIVE_INFINITY, '–'],
  ])('%d ms are %s', (ms, text) => expect(duration(ms)).toBe(text));

  test.each([['30s', 30_000], ['2h30m', 9_000_000], ['250ms', 250], ['1.5h', 5_400_000], ['7d', 604_800_000], [' 5m ', 300_000]])('%s is read', (text, ms) => expect(parseDuration(text)).toBe(ms));
  test.each(['', '5', 'm', '5 m', '5mm', '-5m', '5m!'])('%j is none', text => expect(parseDuration(text)).toBeNaN());
});

describe('numbers', () => {
  test('are grouped alike in both languages', () => {
    for (const language of ['en', 'zh'] as const) {
      lang.value = language;
      const own = new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en');
      for (const n of [0, 7, 999, 1_000, 12_345, 123_456, 1_234_567, -1_234, -999, 1_234.5]) expect(number(n), String(n)).toBe(own.format(n));
    }
  });
  test('are short in tiles, in the way of the language', () => {
    expect([9_999, 12_345, 1_234_567].map(shortNumber)).toEqual(['9,999', '12.3K', '1.2M']);
    lang.value = 'zh';
    expect(shortNumber(1_234_567)).toBe('123.5万');
  });
  test('keep the digits that matter', () => {
    expect([0.44, 9.96, 12.3, 1_234.5].map(rate)).toEqual(['0.4', '10', '12', '1,235']);
    expect([0.004, 0.0996, 0.123, 1].map(percent)).toEqual(['0.4%', '10%', '12%', '100%']);
    expect([0, 1023, 1024, 1_572_864, 5 * 2 ** 40].map(bytes)).toEqual(['0 B', '1,023 B', '1 KiB', '1.5 MiB', '5 TiB']);
  });
});

describe('times', () => {
  const at = '2026-07-01T23:30:05.250Z';
  test('are those of the chosen zone', () => {
    zone.value = 'Asia/Shanghai';
    expect(shortTime(at)).toBe('07/02/2026 07:30:05');
    expect(clockTime(Date.parse(at), false)).toBe('07:30');
    expect(zoneName()).toBe('UTC+8');
    zone.value = 'UTC';
    expect(fullTime(at)).toBe('07/01/2026, 23:30:05.250 UTC');
  });
  test("today's have no day", () => expect(shortTime(Date.now())).toMatch(/^\d\d:\d\d:\d\d$/));
  test('a zone that this browser does not know is the local one', () => {
    zone.value = 'Nowhere/Land';
    expect(zoneName()).toMatch(/^UTC/);
    expect(shortTime(Date.now())).toMatch(/^\d\d:\d\d:\d\d$/);
  });
});

test('an id is told by its beginning and its end', () => {
  expect(shortId('01a1eb1e-3615-79cb-9a8b-43ad79e1ad5b')).toBe('01a1eb1e…ad5b');
  expect(shortId('short')).toBe('short');
});

test('a phrase says one and many, with its numbers grouped', () => {
  const phrase = { one: '{n} task', other: '{n} tasks' };
  expect([0, 1, 2, 12_345].map(n => fill(phrase, { n }))).toEqual(['0 tasks', '1 task', '2 tasks', '12,345 tasks']);
  expect(fill('{a} of {b} {c}', { a: 1_000, b: 'x' })).toBe('1,000 of x {c}');
});
