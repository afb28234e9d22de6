// How a list of tasks is asked for; small, so that the shell can ask before the list's own script is there.
import { ahead, type Params } from './api';

export const PAGE = 200;

export function listParams(q: string, cursor: string, limit: number): Params {
  return { q, fields: 'header', limit, cursor };
}

/** The first page of a list, before its script is there. */
export function listAhead(q: string): Promise<void> {
  return ahead('v1/tasks', listParams(q, '', PAGE));
}
