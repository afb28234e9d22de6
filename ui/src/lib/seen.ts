// The list that a task was opened from, so that the next and the previous are a key away, and that one comes back to
// where one was.
let ids: readonly string[] = [];
let back = '';
let last = '';

export function rememberList(list: readonly string[], address: string, opened: string): void {
  ids = list;
  back = address;
  last = opened;
}
/** The one that was looked at last, when its list was at this address. */
export function lastOpened(address: string): string | undefined {
  return back === address && last !== '' ? last : undefined;
}
export function neighbours(id: string): { before: string | undefined; after: string | undefined; back: string } {
  const at = ids.indexOf(id);
  if (at < 0) return { before: undefined, after: undefined, back: '' };
  last = id;
  return { before: ids[at - 1], after: ids[at + 1], back };
}
