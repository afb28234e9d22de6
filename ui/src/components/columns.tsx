// The columns that lists of tasks can have. Cells are drawn often: they are text where text will do.
import { duration, shortId } from '../lib/format';
import { t, type Key } from '../lib/i18n';
import { FINAL, HELD, type TaskHead } from '../lib/types';
import { href } from '../lib/url';
import { StateMark } from './basics';
import type { Column } from './VTable';

interface Named extends Omit<Column<TaskHead>, 'title'> {
  title: Key;
}

const since = (at: string | null, end: number) => (at === null ? '' : duration(Math.max(0, end - Date.parse(at))));
/** From when it could have run until it did. */
function waited(task: TaskHead, now: number): string {
  const from = Math.max(Date.parse(task.created_at), task.run_at ? Date.parse(task.run_at) : 0);
  if (task.started_at) return duration(Math.max(0, Date.parse(task.started_at) - from));
  return task.finished_at || from > now ? '' : duration(now - from);
}
function ran(task: TaskHead, now: number): string {
  if (HELD.includes(task.state)) return since(task.started_at, now);
  return task.started_at && task.finished_at ? since(task.started_at, Date.parse(task.finished_at)) : '';
}
/** How often it was begun, and how many of the failures it may have were counted. */
function attempts(task: TaskHead): string {
  return task.retry.count > 0 && task.retry.max > 0 ? `${task.attempt} · ${task.retry.count}/${task.retry.max}` : String(task.attempt);
}
/** The row itself is what the keyboard reaches. */
function idLink(task: TaskHead) {
  return <a class="id" tabIndex={-1} href={href(`tasks/${task.id}`)} title={task.id}>{shortId(task.id)}</a>;
}
function Bar({ part, note }: { part: number; note: string | null | undefined }) {
  return (
    <span class="bar" title={note ?? undefined}>
      <span class="bar-in" style={{ width: `${Math.round(part * 100)}%` }} />
      <span class="bar-text">{`${Math.round(part * 100)}%`}</span>
    </span>
  );
}

const COLUMNS: readonly Named[] = [
  { id: 'mark', title: 'filter.state', class: 'c-mark', cell: task => <StateMark state={task.state} word={false} /> },
  { id: 'kind', title: 'filter.type', class: 'c-kind', cell: task => <span title={task.type}>{task.type}</span> },
  { id: 'state', title: 'filter.state', class: 'c-state', cell: task => <StateMark state={task.state} /> },
  { id: 'type', title: 'filter.type', class: 'c-type', cell: task => <span title={task.type}>{task.type}</span> },
  { id: 'id', title: 'tasks.id', class: 'c-id', cell: idLink },
  { id: 'spare_id', title: 'tasks.id', class: 'c-id c-spare', cell: idLink },
  { id: 'tenant', title: 'filter.tenant', class: 'c-tenant', cell: task => task.tenant },
  { id: 'queue', title: 'filter.queue', class: 'c-queue', cell: task => task.queue },
  { id: 'spare_queue', title: 'filter.queue', class: 'c-queue c-spare', cell: task => task.queue },
  { id: 'attempt', title: 'tasks.attempt', class: 'c-attempt num', cell: attempts },
  { id: 'age', title: 'tasks.age', class: 'c-age num', cell: (task, now) => since(task.created_at, now) },
  { id: 'wait', title: 'tasks.wait', class: 'c-wait num', cell: waited },
  { id: 'run', title: 'tasks.run', class: 'c-run num', cell: ran },
  { id: 'worker', title: 'filter.worker', class: 'c-worker', cell: task => task.worker },
  { id: 'progress', title: 'tasks.progress', class: 'c-progress', cell: task => (typeof task.progress !== 'number' || FINAL.includes(task.state) ? '' : <Bar part={task.progress} note={task.note} />) },
  { id: 'since', title: 'suspended.since', class: 'c-since num', cell: (task, now) => since(task.updated_at, now) },
];

export function columnsOf(ids: readonly string[]): Column<TaskHead>[] {
  return ids.flatMap(id => COLUMNS.filter(column => column.id === id)).map(column => ({ ...column, title: t(column.title) }));
}
