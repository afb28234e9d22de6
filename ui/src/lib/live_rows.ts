// What keeps a list of tasks alive while one looks at it.
import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { RowStore, sourceOf } from './rows';
import { onEvent, onReset, paused, pulse, watch } from './stream';

const LOOK_EVERY = 3_000;
const WATCHED = 100;

/** The list of a query; the one before stays until the first answer is there. */
export function useStore(q: string, round: number): { shown: RowStore; next: RowStore } {
  // Begun at once, not after the first paint.
  const { next, first } = useMemo(() => {
    const store = new RowStore(sourceOf(q));
    return { next: store, first: store.more() };
  }, [q, round]);
  const [shown, show] = useState(next);
  useEffect(() => {
    let over = false;
    void first.then(() => !over && next.ready && show(next));
    return () => {
      over = true;
      if (next !== shownNow.current) next.close();
    };
  }, [next]);
  const shownNow = useRef(shown);
  useEffect(() => {
    const before = shownNow.current;
    shownNow.current = shown;
    if (before !== shown) before.close();
  }, [shown]);
  useEffect(() => () => shownNow.current.close(), []);
  return { shown, next };
}

/** Rows in sight are patched where they stand; what is new is counted. */
export function useLive(store: RowStore, sight: { current: readonly string[] }): () => void {
  const watching = useRef<{ timer?: ReturnType<typeof setTimeout> }>({});
  useEffect(() => () => {
    clearTimeout(watching.current.timer);
    watch(watching.current, []);
  }, []);
  useEffect(() => {
    let changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const off = onEvent(event => {
      if (paused.peek() || store.place(event.id) < 0 || (store.find(event.id)?.version ?? 0) >= event.version) return;
      changed.add(event.id);
      timer ??= setTimeout(() => {
        const ids = [...changed];
        changed = new Set();
        timer = undefined;
        void store.refresh(ids);
      }, 120);
    });
    const offReset = onReset(() => void store.refresh(sight.current));
    return () => {
      off();
      offReset();
      clearTimeout(timer);
    };
  }, [store]);
  const looked = useRef(Date.now());
  useSignalEffect(() => {
    void pulse.value;
    if (paused.value || document.hidden || store.cost === 'scan' || Date.now() - looked.current < LOOK_EVERY) return;
    looked.current = Date.now();
    void store.look();
  });
  // Other rows came into sight: their events are wanted once the hand rests.
  return () => {
    clearTimeout(watching.current.timer);
    watching.current.timer = setTimeout(() => watch(watching.current, sight.current.slice(0, WATCHED)), 400);
  };
}

/** The value as it was at most `every` ms ago: readers of the screen are told seldom. */
export function useSlowly(value: number, every: number): number {
  const [slow, setSlow] = useState(value);
  const newest = useRef(value);
  newest.current = value;
  useEffect(() => {
    const timer = setInterval(() => setSlow(newest.current), every);
    return () => clearInterval(timer);
  }, [every]);
  return slow;
}
