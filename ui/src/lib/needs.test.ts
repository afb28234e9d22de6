import { expect, test } from 'vitest';
import { needs, SILENT_AFTER, type Facts } from './needs';
import { STATES, type Counts, type FailureGroup, type Queue, type Readiness, type Worker } from './types';

const NOW = Date.parse('2026-11-17T12:00:00.000Z');
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const counts = (some: Partial<Counts> = {}) => ({ ...Object.fromEntries(STATES.map(state => [state, 0])), ...some }) as Counts;
const queue = (name: string, more: Partial<Queue> = {}): Queue => ({ name, paused: false, closed: false, lanes_by_type: false, concurrency: 0, rate: 0, tasks: counts(), ...more });
const worker = (name: string, queues: string[], more: Partial<Worker> = {}): Worker => ({ name, kind: 'stream', instance: 'a', queues, slots: 4, running: 0, connected_at: ago(1e6), last_seen: ago(500), busy_until: null, draining: false, labels: {}, models: [], address: '', ...more });
const group = (fingerprint: string, open: number): FailureGroup => ({ fingerprint, message: 'm', sample: 's', kind: 'transient', code: null, type: 't', queue: 'q', tasks: counts(), open, failed: 9, first_seen: null, last_seen: null, sample_task: 'x' });
const ready = (more: Partial<Readiness> = {}): Readiness => ({ status: 'ready', instance: 'a', roles: [], store: 's', durability: 'fsync', degraded: false, problems: [], time: ago(0), ...more });
const kinds = (facts: Partial<Facts>) => needs({ now: NOW, ...facts }).map(need => need.is);

test('a healthy server with nothing wrong needs nobody', () => {
  expect(needs({ now: NOW, readiness: ready(), groups: [], queues: [queue('q', { tasks: counts({ queued: 5 }) })], workers: [worker('w', ['q'])] })).toEqual([]);
});

test('nothing is known yet: nothing is claimed', () => {
  expect(kinds({})).toEqual([]);
  expect(kinds({ queues: [queue('q', { tasks: counts({ queued: 5 }) })] })).toEqual([]);
});

test('only groups with tasks that can still be helped are shown, the largest first, and the rest as one line', () => {
  const list = needs({ now: NOW, groups: [group('a', 1), group('b', 7), group('gone', 0), group('c', 3), group('d', 2), group('e', 1)] });
  expect(list.map(need => (need.is === 'group' ? need.group.fingerprint : need))).toEqual(['b', 'c', 'd', { is: 'groups', more: 2 }]);
});

test('a queue with waiting work and no worker is shown, unless it is paused', () => {
  const waiting = { tasks: counts({ queued: 3 }) };
  expect(needs({ now: NOW, queues: [queue('lonely', { ...waiting, oldest_at: ago(9000) })], workers: [worker('w', ['other'])] })).toEqual([{ is: 'no_worker', queue: 'lonely', waiting: 3, since: ago(9000) }]);
  expect(kinds({ queues: [queue('p', { ...waiting, paused: true })], workers: [] })).toEqual(['paused']);
  expect(kinds({ queues: [queue('idle')], workers: [] })).toEqual([]);
});

test('a worker that drains or is silent serves no queue', () => {
  const queues = [queue('q', { tasks: counts({ queued: 1 }) })];
  expect(kinds({ queues, workers: [worker('w', ['q'], { draining: true })] })).toEqual(['no_worker']);
  expect(kinds({ queues, workers: [worker('w', ['q'], { last_seen: ago(SILENT_AFTER + 1) })] })).toEqual(['no_worker', 'silent']);
  expect(kinds({ queues, workers: [worker('w', ['q'], { last_seen: ago(SILENT_AFTER - 1) })] })).toEqual([]);
  const last_seen = ago(SILENT_AFTER + 1);
  expect(kinds({ queues, workers: [worker('w', ['q'], { last_seen, busy_until: ago(-1_000) })] })).toEqual([]);
  expect(kinds({ queues, workers: [worker('w', ['q'], { last_seen, busy_until: ago(1_000) })] })).toEqual(['no_worker', 'silent']);
});

test('what the server says of its own health comes first, and the doctor is named', () => {
  const list = needs({ now: NOW, readiness: ready({ status: 'unavailable', detail: 'no store', problems: ['the doctor found tasks'] }), groups: [group('a', 1)] });
  expect(list.slice(0, 2)).toEqual([{ is: 'problem', text: 'no store', doctor: false }, { is: 'problem', text: 'the doctor found tasks', doctor: true }]);
  expect(list[2]!.is).toBe('group');
});

test('a queue that is paused and closed is shown as both', () => {
  expect(kinds({ queues: [queue('q', { paused: true, closed: true })] })).toEqual(['paused', 'closed']);
});
