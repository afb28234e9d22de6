import { expect, test } from 'vitest';
import { detailText, joined } from './Audit';
import type { AuditEntry } from '../../lib/types';

const entry = (id: string, at: string): AuditEntry => ({ id, at, who: 'api', action: 'queue.pause', target: 'queue:q', reason: null });

test('what an act was about is told without what was not said', () => {
  expect(detailText({ action: 'pause', filter: { states: [], queue: 'gpu', type: '', fingerprint: 0, until_us: 17 }, rate: 0, matched: 8 })).toBe('action:pause queue:gpu matched:8');
  expect(detailText({ filter: { states: ['failed', 'suspended'] } })).toBe('states:failed,suspended');
  expect(detailText(undefined)).toBe('');
});

test('pages that were read at different times are one list, newest first, each entry once', () => {
  const [a, b, c] = [entry('1', '2026-11-17T10:00:00Z'), entry('2', '2026-11-17T11:00:00Z'), entry('3', '2026-11-17T11:00:00Z')];
  expect(joined([b!, a!], [c!, b!]).map(one => one.id)).toEqual(['3', '2', '1']);
});
