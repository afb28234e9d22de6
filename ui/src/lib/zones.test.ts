import { expect, test } from 'vitest';
import { findZones, knownZones, offsetOf } from './zones';

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
});
