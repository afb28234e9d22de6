// Something that is read from the server and kept up to date: stale while it is read again, one request at a time.
import { signal, useComputed, useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ApiError } from './api';
import { paused, pulse, status } from './stream';

export interface Resource<T> {
  /** The newest answer; stays while another one is under way, also when that fails. */
  readonly data: ReadonlySignal<T | undefined>;
  readonly error: ReadonlySignal<ApiError | undefined>;
  readonly loading: ReadonlySignal<boolean>;
  /** Reads it again, now. */
  refresh(): Promise<void>;
}

export interface ResourceOptions {
  /** Read again this often, in ms, while the page is visible and live; 0: never by itself. */
  every?: number;
  /** Read again when the server says that something changed (at most once a second). */
  onChange?: boolean;
}

/**
 * `key` names what is read: a new key drops the old answer's request and shows the old data until the new is there,
 * unless `read` is null for it.
 */
export function useResource<T>(key: string, read: ((signal: AbortSignal) => Promise<T>) | null, options: ResourceOptions = {}): Resource<T> {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const loading = useSignal(false);
  const state = useMemo(() => ({ read, key, running: undefined as AbortController | undefined, again: false, wanted: signal(key), seen: pulse.peek() }), []);
  state.read = read;
  state.wanted.value = key;

  const refresh = async (): Promise<void> => {
    if (!state.read) return;
    if (state.running && state.key === state.wanted.peek()) {
      state.again = true;
      return;
    }
    state.running?.abort();
    const controller = new AbortController();
    state.running = controller;
    state.key = state.wanted.peek();
    loading.value = true;
    try {
      const answer = await state.read(controller.signal);
      if (controller.signal.aborted) return;
      data.value = answer;
      error.value = undefined;
    } catch (problem) {
      if (controller.signal.aborted) return;
      error.value = problem instanceof ApiError ? problem : new ApiError(0, 'error', String(problem));
    } finally {
      if (state.running === controller) {
        state.running = undefined;
        loading.value = false;
        if (state.again) {
          state.again = false;
          void refresh();
        }
      }
    }
  };

  // A new key: now.
  useSignalEffect(() => {
    void state.wanted.value;
    void refresh();
  });
  // Once when the page leaves.
  useSignalEffect(() => () => state.running?.abort());
  // It answers again: what could not be read is read.
  useSignalEffect(() => {
    if (status.value === 'live' && error.peek()) void refresh();
  });
  // Something changed on the server.
  useSignalEffect(() => {
    if (!options.onChange) return;
    const n = pulse.value;
    if (n === state.seen) return;
    state.seen = n;
    if (!document.hidden && !paused.peek()) void refresh();
  });
  useSignalEffect(() => {
    if (!options.every) return;
    const timer = setInterval(() => {
      if (!document.hidden && !paused.peek()) void refresh();
    }, options.every);
    return () => clearInterval(timer);
  });
  return { data, error: useComputed(() => error.value), loading, refresh };
}
