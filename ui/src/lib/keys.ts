// Keyboard shortcuts: 'j', 'g t' (one after the other), 'Shift+x', '?', 'Ctrl+K' (⌘ too). Single letters are nobody's
// while somebody types, composes or holds a modifier, and all of them can be switched off; those with Ctrl always work.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import type { Key } from './i18n';
import { shortcuts } from './settings';

export interface Shortcut {
  keys: string;
  /** What it does, for the help. */
  says: Key;
  run(): void;
}

const layers: Shortcut[][] = [];
/** What the help lists now. */
export const activeShortcuts = signal<readonly Shortcut[]>([]);

function show(): void {
  activeShortcuts.value = layers.flat();
}

let first = '';
let firstAt = 0;

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName));
}

function nameOf(event: KeyboardEvent): string {
  return event.shiftKey && event.key.length === 1 && /[A-Z]/.test(event.key) ? `Shift+${event.key.toLowerCase()}` : event.key;
}

export function listenToKeys(): void {
  document.addEventListener('keydown', event => {
    if (event.isComposing || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      const held = event.shiftKey ? undefined : layers.flat().find(s => s.keys === `Ctrl+${event.key.toUpperCase()}`);
      if (!held) return;
      event.preventDefault();
      held.run();
      return;
    }
    if (shortcuts.value === 'off') return;
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
    const name = nameOf(event);
    const sequence = performance.now() - firstAt < 1_000 && first !== '' ? `${first} ${name}` : name;
    // The newest layer wins: a page's own keys before the shell's.
    const found = layers.toReversed().flatMap(layer => layer).find(s => s.keys === sequence) ?? layers.toReversed().flatMap(layer => layer).find(s => s.keys === name);
    first = name;
    firstAt = performance.now();
    if (!found) return;
    first = '';
    event.preventDefault();
    found.run();
  });
}

/** These keys work while the component is there. */
export function useKeys(list: readonly Shortcut[]): void {
  const newest = useRef(list);
  newest.current = list;
  // Before it is painted: what is seen can be worked.
  useLayoutEffect(() => {
    const layer = list.map((shortcut, at) => ({ ...shortcut, run: () => newest.current[at]?.run() }));
    layers.push(layer);
    show();
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      show();
    };
  }, [list.map(s => s.keys).join()]);
}
