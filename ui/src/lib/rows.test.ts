import { describe, expect, test } from 'vitest';
import { RowStore, type RowSource } from './rows';
import type { TaskHead, TaskPage } from './types';

const id = (n: number) => `id-${String(n).padStart(7, '0')}`;
const task = (n: number, version = 1, state = 'queued') => ({ id: id(n), version, state }) as TaskHead;

/** Tasks top..0, newest first, read by place. */
class Shelf implements RowSource {
  asked: string[] = [];
  removed = new Set<string>();
  constructor(public top: number, private readonly scan = 0) {}
  async page(cursor: string, limit: number): Promise<TaskPage> {
    this.asked.push(`page ${cursor}`);
    const from = cursor === '' ? this.top : Number(cursor);
    const tasks: TaskHead[] = [];
    let at = from;
    for (; at >= 0 && tasks.length < limit && (this.scan === 0 || from - at < this.scan); at--) if (this.scan === 0 || at % 100 === 0) tasks.push(task(at));
    return { tasks, next_cursor: at < 0 ? null : String(at), scanned: from - at, complete: at < 0 || tasks.length === limit, cost: this.scan ? 'scan' : 'index' };
  }
  async some(ids: readonly string[]): Promise<TaskHead[]> {
    this.asked.push(`some ${ids.length}`);
    return ids.filter(one => !this.removed.has(one)).map(one => task(Number(one.slice(3)), 2, 'running'));
  }
}
const settled = () => new Promise(done => setTimeout(done, 5));

describe('the rows of a list', () => {
  test('come page by page, in order, until there are no more', async () => {
    const store = new RowStore(new Shelf(449));
    await store.more();
    expect([store.ids.length, store.ended]).toEqual([200, false]);
    await store.more();
    await store.more();
    expect([store.ids.length, store.ended]).toEqual([450, true]);
    expect(store.row(0)?.id).toBe(id(449));
    expect(store.row(449)?.id).toBe(id(0));
  });

  test('far away are forgotten, and read again by their ids when looked at', async () => {
    const shelf = new Shelf(9_999);
    const store = new RowStore(shelf);
    for (let n = 0; n < 30; n++) await store.more();
    expect(store.ids.length).toBe(6_000);
    expect(store.row(0)).toBeUndefined();
    store.need(0, 40);
    await settled();
    expect(store.row(0)).toMatchObject({ id: id(9_999), state: 'running' });
    expect(shelf.asked.filter(one => one.startsWith('some'))).toEqual(['some 40']);
  });

  test('are patched where they stand, and never by an older version', async () => {
    const store = new RowStore(new Shelf(9));
    await store.more();
    store.patch([task(5, 3, 'failed')]);
    store.patch([task(5, 2, 'running'), task(77, 9)]);
    expect(store.row(4)).toMatchObject({ id: id(5), state: 'failed' });
    expect(store.ids.length).toBe(10);
  });

  test('that moved on are marked for a moment', async () => {
    const store = new RowStore(new Shelf(9));
    await store.more();
    store.patch([task(5, 2, 'running'), task(6, 2, 'queued')]);
    expect([store.isNew(id(5)), store.isNew(id(6))]).toEqual([true, false]);
  });

  test('that are new are counted, not shown', async () => {
    const shelf = new Shelf(500);
    const store = new RowStore(shelf);
    await store.more();
    shelf.top = 512;
    await store.look();
    expect(store.fresh.value).toBe(12);
    expect(store.row(0)?.id).toBe(id(500));
  });

  test('come at once into an empty list', async () => {
    const shelf = new Shelf(-1);
    const store = new RowStore(shelf);
    await store.more();
    expect(store.ended).toBe(true);
    shelf.top = 2;
    await store.look();
    expect([store.ids.length, store.fresh.value]).toEqual([3, 0]);
  });

  test('that were removed are known as gone', async () => {
    const shelf = new Shelf(9);
    const store = new RowStore(shelf);
    await store.more();
    shelf.removed.add(id(3));
    await store.refresh([id(3), id(4)]);
    expect([store.isGone(id(3)), store.isGone(id(4))]).toEqual([true, false]);
  });

  test('a scan that stopped early says how far it looked, and goes on only when told', async () => {
    const store = new RowStore(new Shelf(29_999, 10_000));
    await store.more();
    expect([store.stopped, store.looked, store.ids.length]).toEqual([true, 10_000, 100]);
    await store.more();
    expect(store.ids.length).toBe(100);
    await store.more(true);
    await store.more(true);
    expect([store.stopped, store.ended, store.ids.length]).toEqual([false, true, 300]);
  });

  test('an error is kept until the next answer', async () => {
    const shelf = new Shelf(9);
    const page = shelf.page.bind(shelf);
    shelf.page = async () => Promise.reject(new Error('away'));
    const store = new RowStore(shelf);
    await store.more();
    expect(store.error.value?.detail).toContain('away');
    shelf.page = page;
    await store.more();
    expect([store.error.value, store.ids.length]).toEqual([undefined, 10]);
  });
});
