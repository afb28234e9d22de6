// The rows of a long list: read page by page as one scrolls, kept in the order in which they were first seen. Of rows
// far away only the id is kept; they are read again by it. Nothing is ever put in between: what is new is only counted.
import { signal } from '@preact/signals';
import { ApiError, get } from './api';
import { listParams, PAGE } from './listing';
import type { TaskHead, TaskPage } from './types';

export interface RowSource {
  page(cursor: string, limit: number, stop: AbortSignal): Promise<TaskPage>;
  some(ids: readonly string[], stop: AbortSignal): Promise<TaskHead[]>;
}

/** So many rows are kept whole. */
const KEPT = 5_000;
/** So many more requests a list makes by itself when an indexed search stopped early. */
const BY_ITSELF = 5;
const NEW_AT_MOST = 100;
/** So long a row that moved on is marked. */
const FLASH = 900;

export function sourceOf(q: string): RowSource {
  return {
    page: (cursor, limit, stop) => get<TaskPage>('v1/tasks', listParams(q, cursor, limit), stop),
    some: async (ids, stop) => (await get<TaskPage>('v1/tasks', { ids: ids.join(','), fields: 'header', limit: PAGE }, stop)).tasks,
  };
}

export class RowStore {
  /** All that were found so far, newest first. */
  readonly ids: string[] = [];
  /** Goes up when a row came, changed or went. */
  readonly changed = signal(0);
  readonly loading = signal(false);
  readonly error = signal<ApiError | undefined>(undefined);
  /** So many stand above the first row by now, and are not shown. */
  readonly fresh = signal(0);
  /** At least one answer came. */
  ready = false;
  /** There are no more. */
  ended = false;
  /** The search stopped before its page was full: somebody must say that it shall go on. */
  stopped = false;
  /** So many tasks were looked at for what is shown. */
  looked = 0;
  cost: 'index' | 'scan' = 'index';

  #cursor = '';
  #places = new Map<string, number>();
  #rows = new Map<string, TaskHead>();
  #asked = new Set<string>();
  #gone = new Set<string>();
  #moved = new Map<string, number>();
  #stop = new AbortController();

  constructor(private readonly source: RowSource) {}

  row(at: number): TaskHead | undefined {
    const id = this.ids[at];
    return id === undefined ? undefined : this.#rows.get(id);
  }
  find(id: string): TaskHead | undefined {
    return this.#rows.get(id);
  }
  place(id: string): number {
    return this.#places.get(id) ?? -1;
  }
  /** It was removed from the store since. */
  isGone(id: string): boolean {
    return this.#gone.has(id);
  }
  /** Its state changed a moment ago. */
  isNew(id: string): boolean {
    return Date.now() - (this.#moved.get(id) ?? 0) < FLASH;
  }
  close(): void {
    this.#stop.abort();
  }

  /** The next page; `goOn` also when the search had stopped early. */
  async more(goOn = false): Promise<void> {
    if (this.loading.peek() || this.ended || (this.stopped && !goOn)) return;
    this.loading.value = true;
    this.stopped = false;
    try {
      for (let round = 0; ; round++) {
        const page = await this.source.page(this.#cursor, PAGE, this.#stop.signal);
        this.#take(page);
        if (page.complete || this.ended) break;
        if (this.cost === 'scan' || round >= BY_ITSELF) {
          this.stopped = true;
          break;
        }
        if (page.tasks.length > 0) break;
      }
      this.error.value = undefined;
    } catch (problem) {
      if (this.#stop.signal.aborted) return;
      this.error.value = problem instanceof ApiError ? problem : new ApiError(0, 'error', String(problem));
    } finally {
      this.loading.value = false;
      this.changed.value++;
    }
  }

  #take(page: TaskPage): void {
    for (const task of page.tasks) {
      if (this.#places.has(task.id)) continue;
      this.#places.set(task.id, this.ids.length);
      this.ids.push(task.id);
      this.#rows.set(task.id, task);
    }
    this.ready = true;
    this.looked += page.scanned;
    this.cost = page.cost ?? 'index';
    this.#cursor = page.next_cursor ?? '';
    this.ended = page.next_cursor === null;
    this.#forget();
  }

  /** Rows that were not looked at for longest go first; their ids stay. */
  #forget(): void {
    for (const id of this.#rows.keys()) {
      if (this.#rows.size <= KEPT) return;
      this.#rows.delete(id);
    }
  }

  /** These are looked at: what is missing among them is read. */
  need(first: number, last: number): void {
    const missing: string[] = [];
    for (let at = first; at < Math.min(last, this.ids.length); at++) {
      const id = this.ids[at]!;
      const row = this.#rows.get(id);
      if (row) {
        this.#rows.delete(id);
        this.#rows.set(id, row);
      } else if (!this.#asked.has(id) && !this.#gone.has(id)) {
        missing.push(id);
      }
    }
    if (missing.length > 0) void this.refresh(missing);
    if (last > this.ids.length - PAGE / 2 && !this.error.peek()) void this.more();
  }

  /** Reads these again, where they stand. */
  async refresh(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += PAGE) {
      const some = ids.slice(at, at + PAGE);
      for (const id of some) this.#asked.add(id);
      try {
        const found = await this.source.some(some, this.#stop.signal);
        this.patch(found);
        const there = new Set(found.map(task => task.id));
        for (const id of some) if (!there.has(id)) this.#gone.add(id);
      } catch {
        // The next look at them asks again.
      } finally {
        for (const id of some) this.#asked.delete(id);
        this.changed.value++;
      }
    }
  }

  /** Newer versions of rows that are here; older ones change nothing. */
  patch(tasks: readonly TaskHead[]): void {
    let any = false;
    for (const task of tasks) {
      if (!this.#places.has(task.id)) continue;
      const had = this.#rows.get(task.id);
      if (had && had.version > task.version) continue;
      if (had && had.state !== task.state) this.#moved.set(task.id, Date.now());
      this.#rows.set(task.id, task);
      any = true;
    }
    if (any) this.changed.value++;
    this.#forget();
  }

  /** Looks at the top of the list: how many are new there? An empty list takes them at once. */
  async look(): Promise<void> {
    if (!this.ready || this.loading.peek()) return;
    try {
      const page = await this.source.page('', NEW_AT_MOST, this.#stop.signal);
      if (this.ids.length === 0 && page.tasks.length > 0) {
        this.looked = 0;
        this.#take(page);
        this.changed.value++;
        return;
      }
      let count = 0;
      for (const task of page.tasks) {
        if (this.#places.has(task.id)) break;
        count++;
      }
      this.fresh.value = count;
      this.patch(page.tasks);
    } catch {
      // The next look tells.
    }
  }
}
