// The public API, as openapi.json describes it; the dashboard has no other.
import { user } from './settings';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly field?: string,
    readonly requestId?: string,
    readonly position?: number,
  ) {
    super(detail);
  }
  /** Nobody answered: the server is away, or the network. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

async function problemOf(response: Response): Promise<ApiError> {
  try {
    const p = (await response.json()) as Record<string, never>;
    return new ApiError(response.status, p.code ?? 'error', p.detail ?? response.statusText, p.field, p.request_id, p.position);
  } catch {
    return new ApiError(response.status, 'error', response.statusText);
  }
}

export type Params = Readonly<Record<string, string | number | boolean | undefined | null>>;

export function url(path: string, params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return new URL(path.replace(/^\//, '') + (text === '' ? '' : `?${text}`), document.baseURI).href;
}

/** JSON that is sent as it is written: numbers keep all their digits. */
export class Written {
  constructor(readonly text: string) {}
}

async function send(method: string, where: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET' && user.value !== '') headers['Holdfast-User'] = encodeURIComponent(user.value);
  let response: Response;
  try {
    response = await fetch(where, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body instanceof Written ? body.text : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'unreachable', 'the server does not answer');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}
async function call<T>(method: string, where: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await (await send(method, where, body, signal)).json()) as T;
}

/** So long an answer that nobody has fetched is new enough. */
const AHEAD_FOR = 5_000;
const begun = new Map<string, { answer: Promise<unknown>; at: number }>();

/** Asks for what a page will get as soon as its script is there: the first to get it has this answer. */
export async function ahead(path: string, params: Params = {}): Promise<void> {
  const where = url(path, params);
  const answer = call('GET', where);
  begun.set(where, { answer, at: Date.now() });
  await answer.catch(() => {}); // whoever gets it is told
}

export async function get<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  const where = url(path, params);
  const early = begun.get(where);
  begun.delete(where);
  if (!early || Date.now() - early.at > AHEAD_FOR) return call<T>('GET', where, undefined, signal);
  const answer = (await early.answer) as T;
  signal?.throwIfAborted();
  return answer;
}
/** The answer as it was written. */
export async function getText(path: string, params: Params = {}, signal?: AbortSignal): Promise<string> {
  return (await send('GET', url(path, params), undefined, signal)).text();
}
export async function postText(path: string, body: unknown = {}): Promise<string> {
  return (await send('POST', url(path), body)).text();
}
export function post<T>(path: string, body: unknown = {}): Promise<T> {
  return call<T>('POST', url(path), body);
}
export function put<T>(path: string, body: unknown): Promise<T> {
  return call<T>('PUT', url(path), body);
}
