// One stream of events for all tabs of this browser. The tab that has the lock reads it and tells the others; when it
// goes, the next one goes on behind the last event that was heard. More than one reader would do no harm: what is told
// is told by task and version.
import { batch, computed, effect, signal } from '@preact/signals';
import { url } from './api';
import type { Stats } from './types';

export interface TaskEvent {
  id: string;
  version: number;
  event: string;
  from: string;
  to: string;
  attempt: number;
  at: string;
  [more: string]: unknown;
}

type Told =
  | { is: 'event'; event: TaskEvent }
  | { is: 'counters'; stats: Stats }
  | { is: 'heard'; at: number; cursor: string }
  | { is: 'reset' }
  | { is: 'broken' }
  | { is: 'wants'; tab: string; ids: string[] }
  | { is: 'who' }
  | { is: 'gone'; tab: string };

/** Counts of the whole server, about once a second while they change. */
export const counters = signal<Stats | undefined>(undefined);
/** Goes up when something changed, at most once a second. */
export const pulse = signal(0);
/** When the server was last heard, here or by the tab that listens for us. */
export const heardAt = signal(0);
/** The person asked for quiet: nothing moves by itself. */
export const paused = signal(false);
/** Whether this tab is the one that reads. */
export const leads = signal(false);
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 2_000);

const STALE_AFTER = 20_000;
export const status = computed<'connecting' | 'live' | 'stale' | 'paused'>(() => {
  if (paused.value) return 'paused';
  if (heardAt.value === 0) return 'connecting';
  return now.value - heardAt.value > STALE_AFTER || broken.value ? 'stale' : 'live';
});

const MOST_WATCHED = 200;
const broken = signal(false);
const tab = Math.random().toString(36).slice(2);
const listeners = new Set<(event: TaskEvent) => void>();
const resetListeners = new Set<() => void>();
const mine = new Map<object, readonly string[]>();
const others = new Map<string, string[]>();
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('holdfast.stream');
let newest: Stats | undefined;
let cursor = '';
let rewatch: (() => void) | undefined;

function wanted(): string[] {
  const all = new Set<string>();
  for (const ids of mine.values()) for (const id of ids) all.add(id);
  for (const ids of others.values()) for (const id of ids) all.add(id);
  return [...all].slice(0, MOST_WATCHED).sort();
}

function tell(told: Told): void {
  channel?.postMessage(told);
}

function take(told: Told): void {
  switch (told.is) {
    case 'event':
      for (const listener of listeners) listener(told.event);
      break;
    case 'counters':
      newest = told.stats;
      if (!paused.peek()) counters.value = newest;
      break;
    case 'heard':
      heardAt.value = told.at;
      cursor = told.cursor || cursor;
      broken.value = false;
      break;
    case 'reset':
      for (const listener of resetListeners) listener();
      break;
    case 'broken':
      broken.value = true;
      break;
    default:
  }
}

if (channel) {
  channel.onmessage = (message: MessageEvent<Told>) => {
    const told = message.data;
    if (told.is === 'wants') {
      if (told.ids.length > 0) others.set(told.tab, told.ids);
      else others.delete(told.tab);
      rewatch?.();
    } else if (told.is === 'gone') {
      others.delete(told.tab);
      rewatch?.();
    } else if (told.is === 'who') {
      sayWants();
    } else {
      take(told);
    }
  };
  window.addEventListener('pagehide', () => tell({ is: 'gone', tab }));
}

function sayWants(): void {
  const ids = new Set<string>();
  for (const list of mine.values()) for (const id of list) ids.add(id);
  tell({ is: 'wants', tab, ids: [...ids] });
}

/** Events of these tasks are wanted while `owner` says so; [] ends it. */
export function watch(owner: object, ids: readonly string[]): void {
  if (ids.length > 0) mine.set(owner, ids);
  else mine.delete(owner);
  sayWants();
  rewatch?.();
}

export function onEvent(listener: (event: TaskEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
/** Events were missed: what is shown must be read again. */
export function onReset(listener: () => void): () => void {
  resetListeners.add(listener);
  return () => resetListeners.delete(listener);
}

// What was counted while the person had asked for quiet is shown when that is over.
effect(() => {
  if (!paused.value) counters.value = newest ?? counters.peek();
});

// A change of counts, or an event, is a pulse: once a second at most.
let lastPulse = 0;
let pulseTimer: ReturnType<typeof setTimeout> | undefined;
function beat(): void {
  if (pulseTimer !== undefined) return;
  const wait = Math.max(0, lastPulse + 1_000 - Date.now());
  pulseTimer = setTimeout(() => {
    pulseTimer = undefined;
    lastPulse = Date.now();
    pulse.value++;
  }, wait);
}
effect(() => {
  if (counters.value) beat();
});
onEvent(beat);
onReset(beat);

/** Reads the stream until it ends; gives true when something was heard at all. */
async function readOnce(stop: AbortSignal): Promise<boolean> {
  let heard = false;
  const where = url('v1/events', { counters: 1, ...(cursor === '' ? {} : { since: cursor }) });
  const response = await fetch(`${where}&tasks=${wanted().join(',')}`, { signal: stop, cache: 'no-store', headers: { Accept: 'text/event-stream' } });
  if (!response.ok || !response.body) {
    if (response.status === 422) cursor = ''; // a watermark of another life of the server
    return false;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return heard;
    heard = true;
    rest += value;
    const blocks = rest.split('\n\n');
    rest = blocks.pop()!;
    batch(() => {
      for (const block of blocks) takeBlock(block);
      const told: Told = { is: 'heard', at: Date.now(), cursor };
      take(told);
      tell(told);
    });
  }
}

function takeBlock(block: string): void {
  let name = 'message';
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data += line.slice(5).trim();
    else if (line.startsWith('id:')) cursor = line.slice(3).trim();
  }
  if (name === 'reset') {
    take({ is: 'reset' });
    tell({ is: 'reset' });
  } else if (data !== '') {
    const parsed: unknown = JSON.parse(data);
    const told: Told = name === 'counters' ? { is: 'counters', stats: parsed as Stats } : { is: 'event', event: eventOf(name, parsed) };
    take(told);
    tell(told);
  }
}

/** Events name their task "id" or "task": one name here. */
function eventOf(name: string, data: unknown): TaskEvent {
  const raw = data as Record<string, unknown>;
  return { event: name, ...raw, id: String(raw.id ?? raw.task) } as TaskEvent;
}

const pause = (ms: number) => new Promise(done => setTimeout(done, ms));

/** Reads for as long as this tab leads; a new wish ends the connection, and the next goes on where it was. */
async function lead(): Promise<void> {
  leads.value = true;
  tell({ is: 'who' });
  let failures = 0;
  for (;;) {
    const controller = new AbortController();
    let asked = wanted().join();
    let timer: ReturnType<typeof setTimeout> | undefined;
    rewatch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (wanted().join() !== asked) controller.abort('other tasks');
      }, 150);
    };
    asked = wanted().join();
    let heard = false;
    try {
      heard = await readOnce(controller.signal);
    } catch {
      heard = controller.signal.aborted;
    }
    clearTimeout(timer);
    if (controller.signal.aborted) continue;
    broken.value = true;
    tell({ is: 'broken' });
    failures = heard ? 0 : failures + 1;
    await pause(Math.random() * Math.min(500 * 2 ** failures, 10_000) + 200);
  }
}

/** Begins: one tab reads, the others hear it. Where there are no locks (plain http on a LAN) every tab reads. */
export function startStream(): void {
  if (navigator.locks) void navigator.locks.request('holdfast.stream', lead);
  else void lead();
}
