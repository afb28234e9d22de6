import { expect, test } from 'vitest';
import { offsetOf } from './format';
import { findZones, knownZones } from './zones';

const zones = knownZones('Europe/Berlin', 'Here');
const ids = (typed: string) => findZones(zones, typed, 5).map(zone => zone.id);

test("the browser's own zone and UTC come first", () => {
  expect(ids('').slice(0, 2)).toEqual(['local', 'UTC']);
});

test('a zone is found by its city, with a blank, and in Chinese', () => {
  expect(ids('shanghai')[0]).toBe('Asia/Shanghai');
  expect(ids('new york')[0]).toBe('America/New_York');
  expect(ids('北京')).toEqual(['Asia/Shanghai']);
});

test('the offset is that of the moment, and a zone that is not known has none', () => {
  expect(offsetOf('Asia/Shanghai', new Date('2026-11-17T00:00:00Z'))).toBe('UTC+8');
  expect(offsetOf('Europe/Berlin', new Date('2026-07-01T00:00:00Z'))).toBe('UTC+2');
  expect(offsetOf('Nowhere/Land', new Date(0))).toBe('');
  expect(offsetOf('UTC', new Date(0))).toBe('UTC');
});

test('the local offset is what the browser itself says of its zone', () => {
  const at = (minutes: number) => offsetOf('local', { getTimezoneOffset: () => -minutes } as Date);
  expect([0, 480, -210, 345].map(at)).toEqual(['UTC', 'UTC+8', 'UTC-3:30', 'UTC+5:45']);
});
