// Which of many entries somebody means by a few letters.
import { plain } from './filter';

export interface Entry {
  text: string;
  /** Other words for it: what it is called in the address, in the other language. */
  also?: string;
}

/** 0: not meant. Whole beats beginning, beginning beats the beginning of a word, that beats anywhere, that beats letters in order. */
export function score(text: string, typed: string): number {
  const from = text.toLowerCase();
  const to = typed.toLowerCase();
  if (from === to) return 100;
  if (from.startsWith(to)) return 80;
  const at = from.indexOf(to);
  if (at > 0) return /[\s._:/-]/.test(from[at - 1]!) ? 60 : 40;
  let next = 0;
  for (const letter of from) if (letter === to[next]) next++;
  return next === to.length && to.length > 1 ? 20 : 0;
}

/** The best first; equals stay in the order they had. Nothing typed: all of them. */
export function rank<T extends Entry>(entries: readonly T[], typed: string, most: number): T[] {
  const wanted = plain(typed).trim();
  if (wanted === '') return entries.slice(0, most);
  return entries
    .map((entry, at) => ({ entry, at, points: Math.max(score(entry.text, wanted), ...(entry.also ?? '').split('|').map(word => (word === '' ? 0 : score(word, wanted) - 1))) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || a.at - b.at)
    .slice(0, most)
    .map(({ entry }) => entry);
}

const ID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
/** A whole task id as it is pasted, with its dashes; undefined when it is none. */
export function wholeId(typed: string): string | undefined {
  const text = plain(typed).trim().toLowerCase();
  if (!ID.test(text)) return undefined;
  const hex = text.replaceAll('-', '');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
