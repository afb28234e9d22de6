// How a list of tasks is asked for; small, so that the shell can ask before the list's own script is there.
import { ahead, type Params } from './api';

export const PAGE = 200;
/** The failures that lists of tasks take their reasons from. */
export const GROUPS: Params = { limit: 200 };

export function listParams(q: string, cursor: string, limit: number): Params {
  return { q, fields: 'header', limit, cursor };
}

/** The first page of a list, before its script is there. */
export function listAhead(q: string): Promise<void> {
  return ahead('v1/tasks', listParams(q, '', PAGE));
}
/** The same of what is suspended, with the reasons. */
export async function suspendedAhead(q: string): Promise<void> {
  await Promise.all([listAhead(`state:suspended ${q}`.trim()), ahead('v1/failures', GROUPS)]);
}
