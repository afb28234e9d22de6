// Queues as the server lists them, with the counts that the stream carries every second.
import { HELD, STATES, type Counts, type Queue, type Stats } from './types';

export function addCounts(all: readonly Counts[]): Counts {
  return Object.fromEntries(STATES.map(state => [state, all.reduce((total, counts) => total + (counts[state] ?? 0), 0)])) as unknown as Counts;
}

export function underWay(tasks: Counts): number {
  return HELD.reduce((total, state) => total + tasks[state], 0);
}

/** The counts of the stream are newer; a queue that only the stream knows was made since. */
export function withCounts(queues: readonly Queue[], stats: Stats | undefined): Queue[] {
  if (!stats) return [...queues];
  const counted = new Map<string, Counts[]>();
  for (const row of stats.queues) counted.set(row.queue, [...(counted.get(row.queue) ?? []), row.tasks]);
  const known = queues.map(queue => {
    const counts = counted.get(queue.name);
    return counts ? { ...queue, tasks: addCounts(counts) } : queue;
  });
  const names = new Set(queues.map(queue => queue.name));
  const made = [...counted].filter(([name]) => !names.has(name)).map(([name, counts]) => ({ name, paused: false, closed: false, lanes_by_type: false, concurrency: 0, rate: 0, tasks: addCounts(counts) }));
  return [...known, ...made].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}
