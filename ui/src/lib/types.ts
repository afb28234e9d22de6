// What the API answers, as far as pages use it. Names are the API's.

export const STATES = ['waiting', 'queued', 'dispatched', 'accepted', 'running', 'retrying', 'paused', 'suspended', 'succeeded', 'failed', 'cancelled', 'discarded'] as const;
export type State = (typeof STATES)[number];
export const FINAL: readonly State[] = ['succeeded', 'failed', 'cancelled', 'discarded'];
export const HELD: readonly State[] = ['dispatched', 'accepted', 'running'];
export type Counts = Readonly<Record<State, number>>;

export interface TaskError {
  kind: string;
  message: string;
  stack?: string;
  code?: string;
}

/** A task without its bodies: what lists carry. */
export interface TaskHead {
  id: string;
  type: string;
  queue: string;
  tenant: string;
  state: State;
  priority: number;
  labels: Record<string, string>;
  retry: { count: number; max: number; next_attempt_at: string | null; policy?: unknown };
  attempt: number;
  progress: number | null;
  note?: string | null;
  worker?: string | null;
  lease_until?: string | null;
  fingerprint?: string | null;
  revision?: number;
  pause_requested?: boolean;
  cancel_requested?: boolean;
  run_at: string | null;
  deadline: string | null;
  version: number;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface Task extends TaskHead {
  payload: unknown;
  result: unknown;
  error: TaskError | null;
  context?: { idempotency_key?: string; traceparent?: string; user?: unknown };
  redacted?: boolean;
}

export interface TaskPage {
  tasks: TaskHead[];
  next_cursor: string | null;
  scanned: number;
  complete: boolean;
  cost?: 'index' | 'scan';
}

export interface Facet {
  value: string;
  count: number;
}
export interface Facets {
  total: number;
  exact: boolean;
  scanned: number;
  facets: Partial<Record<'state' | 'queue' | 'type' | 'tenant', Facet[]>>;
}

export interface Transition {
  event?: string;
  from: State | 'none' | null;
  to: State;
  attempt: number;
  message: string | null;
  actor?: string | null;
  at: string;
  error?: TaskError | null;
}

export interface FailureGroup {
  fingerprint: string;
  message: string;
  sample: string;
  kind: string;
  code: string | null;
  type: string;
  queue: string;
  tasks: Counts;
  open: number;
  failed: number;
  first_seen: string | null;
  last_seen: string | null;
  tenants?: number;
  sample_task: string | null;
}

export interface Queue {
  name: string;
  paused: boolean;
  closed: boolean;
  lanes_by_type: boolean;
  concurrency: number;
  rate: number;
  tasks: Counts;
  oldest_at?: string | null;
  rate_in?: number;
  rate_out?: number;
  paused_by?: string | null;
  paused_reason?: string | null;
  paused_at?: string | null;
  closed_by?: string | null;
  closed_reason?: string | null;
  closed_at?: string | null;
}

export interface Worker {
  name: string;
  kind: string;
  instance: string;
  queues: string[];
  /** Not known of a worker that only sends requests. */
  slots: number | null;
  running: number | null;
  connected_at: string;
  last_seen: string;
  /** Of an HTTP worker: when the latest lease that it holds ends. */
  busy_until: string | null;
  draining: boolean;
  labels: Record<string, string>;
  models: string[];
  address: string;
}

export interface Stats {
  tasks: Counts;
  queues: { queue: string; type: string; tasks: Counts }[];
  failures: { fingerprint: string; tasks: Counts }[];
  oldest?: { queue: string; at: string }[];
}

export interface Series {
  range: string;
  step: string;
  start: string;
  submitted: number[];
  started: number[];
  succeeded: number[];
  failed: number[];
  cancelled: number[];
  discarded: number[];
  retried: number[];
  suspended: number[];
  wait_ms: { p50: (number | null)[]; p95: (number | null)[] };
  run_ms: { p50: (number | null)[]; p95: (number | null)[] };
}

export interface Readiness {
  status: 'ready' | 'degraded' | 'unavailable' | 'stopping';
  instance: string;
  roles: string[];
  store: string;
  durability: string;
  degraded: boolean;
  problems: string[];
  time: string;
  detail?: string;
  version?: string;
  started_at?: string;
  read_only?: boolean;
}

export interface Instance {
  id: string;
  self: boolean;
  version?: string;
  address?: string;
  roles?: string[];
  workers?: number;
  started_at?: string;
  seen_at?: string;
}

export interface Diagnosis {
  healthy: boolean;
  store?: string;
  durability?: string;
  store_is_whole?: boolean;
  store_problem?: string;
  examined?: number;
  without_wake_source?: string[];
  misplaced?: string[];
  overdue?: string[];
  miscounted?: string[];
  time?: string;
}

export interface ConfigOption {
  name: string;
  value: unknown;
  source: string;
  default?: unknown;
  says?: string;
}

export interface BulkJob {
  bulk_id: string;
  action: string;
  filter?: unknown;
  q?: string | null;
  who?: string | null;
  reason?: string | null;
  rate?: number | null;
  state: State;
  /** How many there were when it began; null: too many to count. */
  expected?: number | null;
  matched: number;
  done: number;
  refused_count?: number;
  created_at?: string | null;
  updated_at?: string | null;
  finished_at?: string | null;
}

export interface BulkReport {
  matched: number;
  done: number;
  refused: { id: string; reason: string }[];
  refused_count?: number;
  refused_by?: Record<string, number>;
  bulk_id?: string | null;
  state?: State;
}

export interface AuditEntry {
  id: string;
  at: string;
  who: string;
  address?: string;
  action: string;
  target: string;
  reason: string | null;
  detail?: Record<string, unknown>;
}
