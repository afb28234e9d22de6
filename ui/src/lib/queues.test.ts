import { expect, test } from 'vitest';
import { withCounts } from './queues';
import { STATES, type Counts, type Queue, type Stats } from './types';

const counts = (some: Partial<Counts>) => ({ ...Object.fromEntries(STATES.map(state => [state, 0])), ...some }) as Counts;
const listed: Queue = { name: 'b', paused: true, closed: false, lanes_by_type: false, concurrency: 4, rate: 0, tasks: counts({ queued: 1 }) };
const stats: Stats = { tasks: counts({}), failures: [], queues: [{ queue: 'b', type: 'x', tasks: counts({ queued: 5 }) }, { queue: 'b', type: 'y', tasks: counts({ queued: 2, running: 1 }) }, { queue: 'a', type: 'x', tasks: counts({ failed: 1 }) }] };

test('counts of the stream replace the older ones, summed over types, and settings stay', () => {
  const b = withCounts([listed], stats).find(queue => queue.name === 'b')!;
  expect(b).toMatchObject({ paused: true, concurrency: 4, tasks: { queued: 7, running: 1 } });
});

test('a queue that only the stream knows is added, in the order of names', () => {
  expect(withCounts([listed], stats).map(queue => queue.name)).toEqual(['a', 'b']);
});

test('without counts the list is as it was read', () => {
  expect(withCounts([listed], undefined)).toEqual([listed]);
});
