// The address is the state: filters, tabs and open panels are in it, so that a reload, a bookmark and a colleague see
// the same page. Push what somebody meant to do, replace what merely drifts.
import { computed, signal } from '@preact/signals';

/** The folder the dashboard is served from: '/' unless a proxy puts it elsewhere. */
const base = new URL(document.baseURI).pathname.replace(/[^/]*$/, '');

function read() {
  return { path: window.location.pathname, search: window.location.search, hash: window.location.hash };
}

const here = signal(read());
window.addEventListener('popstate', () => (here.value = read()));

/** '/ui/tasks/…' without the folder; '/' is the overview. */
export const path = computed(() => {
  const local = here.value.path.startsWith(base) ? here.value.path.slice(base.length - 1) : here.value.path;
  return local === '/' || local === '/ui' ? '/ui/' : local;
});
export const query = computed(() => new URLSearchParams(here.value.search));
export const hash = computed(() => here.value.hash.slice(1));

/** A link to a page of ours: href('tasks', { q: 'state:failed' }). */
export function href(page: string, params: Record<string, string | number | undefined | null> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return `${base}ui/${page}${text === '' ? '' : `?${text}`}`;
}

export function go(to: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', to);
  else history.replaceState(null, '', to);
  here.value = read();
  if (how === 'push' && !to.includes('#')) window.scrollTo(0, 0);
}

/** Sets some parameters of this page and keeps the others; an empty value takes one away. */
export function setParams(changes: Record<string, string | null | undefined>, how: 'push' | 'replace' = 'push'): void {
  const next = new URLSearchParams(here.value.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  const to = here.value.path + (text === '' ? '' : `?${text}`) + here.value.hash;
  if (to === here.value.path + here.value.search + here.value.hash) return;
  if (how === 'push') history.pushState(null, '', to);
  else history.replaceState(null, '', to);
  here.value = read();
}

export function param(name: string): string {
  return query.value.get(name) ?? '';
}

/** Links of the page are followed without loading it again; those with a modifier are the browser's. */
export function followLinks(): void {
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest('a');
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== window.location.origin) return;
    if (link.pathname !== base && !link.pathname.startsWith(`${base}ui`)) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}
