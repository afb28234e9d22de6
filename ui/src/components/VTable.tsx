// A table of any length: only the rows in sight are in the document, between two spaces as high as the others. Rows
// are reused while one scrolls; the one with the focus keeps its own.
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { density } from '../lib/settings';
import { clock } from './basics';

export interface Column<T> {
  id: string;
  title: ComponentChildren;
  /** Its width, and on which screens it is shown, are the style sheet's. */
  class: string;
  cell(row: T, now: number): ComponentChildren;
  /** Another one when the cells of the same rows look different. */
  look?: string;
}

export interface VTableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  /** So many rows are known, and so many more are probably there. */
  count: number;
  ahead: number;
  /** All there are, as far as is known; -1: nobody knows. */
  total: number;
  row(at: number): T | undefined;
  rowClass?(row: T, at: number): string;
  isSelected(at: number): boolean;
  /** The row of the keyboard; -1: none yet. Counting `moves` brings it into sight. */
  current: number;
  moves: number;
  onCurrent(at: number): void;
  onOpen(at: number): void;
  /** A link of the row is followed. */
  onFollow(at: number): void;
  onSelect(at: number, range: boolean): void;
  /** These rows are in sight, or nearly. */
  onSight(first: number, last: number): void;
  /** Another list: scroll to its beginning. */
  listKey: string;
  selectAll: ComponentChildren;
  selectLabel(at: number): string;
  foot?: ComponentChildren;
}

const MOST_ROWS = 58;
/** So many rows are scrolled before the next ones are drawn. */
const STEP = 4;
/** What usually stands above and below a table, in pixels: a first guess at its height. */
const AROUND = 217;

interface Kept<T> {
  row: T | undefined;
  look: string;
  vnode: VNode;
}

export function VTable<T>(props: VTableProps<T>) {
  const { columns, count, ahead, total, current } = props;
  const height = density.value === 'cosy' ? 38 : 30;
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [fits, setFits] = useState(() => Math.max(8, Math.ceil((window.innerHeight - AROUND) / height)));
  /** The first drawing is of the rows in sight alone, so that it is soon there. */
  const [drawn, setDrawn] = useState(false);
  /** The last of the moves whose row has the focus. */
  const focused = useRef(0);
  const kept = useRef(new Map<number, Kept<T>>());
  // While a button is down no row changes its element: the click would be lost with it.
  const pressed = useRef(false);
  useEffect(() => {
    const release = () => (pressed.current = false);
    window.addEventListener('pointerup', release);
    return () => window.removeEventListener('pointerup', release);
  }, []);
  const extent = count + ahead;
  const over = Math.max(1, Math.min(6, Math.floor((MOST_ROWS - fits - STEP) / 2)));
  // A row that leaves gives its element to one that comes: as many names as there can be rows.
  const slots = fits + STEP + 2 * over + 1;
  const first = Math.max(0, Math.min(top, extent - fits) - over);
  const last = Math.min(extent, top + fits + (drawn ? STEP + over : 0));
  const now = clock.value;

  useLayoutEffect(() => {
    const watcher = new ResizeObserver(() => setFits(Math.ceil(scroller.current!.clientHeight / height)));
    watcher.observe(scroller.current!);
    return () => watcher.disconnect();
  }, [height]);
  useEffect(() => setDrawn(true), []);
  const listed = useRef(props.listKey);
  useLayoutEffect(() => {
    if (listed.current === props.listKey) return;
    listed.current = props.listKey;
    scroller.current!.scrollTop = 0;
    setTop(0);
  }, [props.listKey]);
  useEffect(() => props.onSight(first, last), [first, last, count, props.listKey]);
  useLayoutEffect(() => {
    if (current < 0 || props.moves === 0) return;
    const box = scroller.current!;
    const at = current * height;
    const room = box.clientHeight - height * 2; // below the heading, and a row to spare
    if (at < box.scrollTop) box.scrollTop = Math.max(0, at);
    else if (at > box.scrollTop + room) box.scrollTop = at - room;
    setTop(Math.floor(box.scrollTop / height));
  }, [props.moves]);
  // The row may come into the document only with the drawing that follows the scrolling.
  useEffect(() => {
    if (current < 0 || focused.current === props.moves) return;
    const row = scroller.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${current + 2}"]`);
    if (!row) return;
    focused.current = props.moves;
    row.focus({ preventScroll: true });
  });

  const onScroll = () => {
    if (!scroller.current) return; // the event comes a frame later, and the list may have been left by then
    const at = Math.floor(scroller.current.scrollTop / height);
    const step = at - (at % STEP);
    if (step !== top) setTop(step);
  };
  const onKey = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).tagName !== 'TR') return;
    const page = Math.max(1, fits - 2);
    const moves: Record<string, number> = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page, Home: 0, End: count - 1 };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    props.onCurrent(Math.max(0, Math.min(count - 1, to)));
  };

  const rows: VNode[] = [];
  const nextKept = new Map<number, Kept<T>>();
  const second = now - (now % 1_000);
  const looks = columns.map(column => column.look ?? '').join();
  for (let at = first; at < last; at++) {
    const row = props.row(at);
    const selected = row !== undefined && props.isSelected(at);
    const focusable = at === (current < 0 ? 0 : current);
    const name = row === undefined ? 'unread' : (props.rowClass?.(row, at) ?? '');
    // Whatever changes how a row looks is in here: the same look of the same row is the same node, and costs nothing.
    const look = `${selected}${focusable}${at === current}${name}${second}${looks}${columns.length}${height}${slots}`;
    const had = kept.current.get(at);
    if (had && had.row === row && had.look === look) {
      rows.push(had.vnode);
      nextKept.set(at, had);
      continue;
    }
    const vnode = (
      <tr
        key={at === current ? 'current' : at % slots}
        aria-rowindex={at + 2}
        aria-selected={selected}
        class={`${name}${at === current ? ' current' : ''}${selected ? ' selected' : ''}`}
        tabIndex={focusable ? 0 : -1}
        data-at={at}
      >
        <td class="check">{row !== undefined && <input type="checkbox" tabIndex={-1} checked={selected} aria-label={props.selectLabel(at)} />}</td>
        {columns.map(column => <td class={column.class}>{row === undefined ? '' : column.cell(row, now)}</td>)}
      </tr>
    );
    rows.push(vnode);
    nextKept.set(at, { row, look, vnode });
  }
  kept.current = nextKept;

  const placeOf = (event: Event) => {
    const tr = (event.target as Element).closest<HTMLElement>('tr[data-at]');
    return tr ? Number(tr.dataset.at) : -1;
  };
  const onClick = (event: MouseEvent) => {
    const at = placeOf(event);
    if (at < 0 || at >= count) return;
    const target = event.target as Element;
    if (target.closest('.check')) {
      event.preventDefault();
      props.onSelect(at, event.shiftKey);
    } else if (target.closest('a')) {
      props.onFollow(at);
    } else if (!target.closest('button') && !window.getSelection()?.toString()) {
      props.onOpen(at);
    }
  };
  return (
    <div class="vtable" ref={scroller} onScroll={onScroll}>
      <table aria-label={props.label} aria-rowcount={total < 0 ? -1 : total + 1}>
        <colgroup>
          <col class="check" />
          {columns.map(column => <col class={column.class} />)}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="check">{props.selectAll}</th>
            {columns.map(column => <th scope="col" class={column.class}>{column.title}</th>)}
          </tr>
        </thead>
        {/* Rows are many and come and go: one listener for all of them. */}
        <tbody onClick={onClick} onKeyDown={onKey} onPointerDown={() => (pressed.current = true)} onFocusIn={event => {
          const at = placeOf(event);
          if (!pressed.current && at >= 0 && at !== current && (event.target as Element).tagName === 'TR') props.onCurrent(at);
        }}>
          {first > 0 && <tr class="space" aria-hidden="true" key="above" style={{ height: `${first * height}px` }} />}
          {rows}
          {last < extent && <tr class="space" aria-hidden="true" key="below" style={{ height: `${(extent - last) * height}px` }} />}
        </tbody>
      </table>
      {props.foot}
    </div>
  );
}
