// Words. A key that one language lacks does not compile; placeholders are compared by a test.
import { signal } from '@preact/signals';
import type { Words } from '../i18n/en';
import { lang } from './settings';

export type Key = keyof Words;
/** One text, or two: English has another one for a single thing, Chinese never. */
export type Phrase = string | { readonly one?: string; readonly other: string };
export type Vars = Readonly<Record<string, string | number>>;

const words = signal<Readonly<Record<string, Phrase>>>({});

const loaders = {
  en: () => import('../i18n/en').then(m => m.default),
  zh: () => import('../i18n/zh').then(m => m.default),
};

/** Resolves when the words of the chosen language are there. */
export async function loadWords(): Promise<void> {
  const wanted = lang.value;
  const loaded = await loaders[wanted]();
  if (lang.value === wanted) words.value = loaded as Readonly<Record<string, Phrase>>;
}

export function locale(): string {
  return lang.value === 'zh' ? 'zh-CN' : 'en';
}

/** 1,234,567 in both languages. The browser's own formatter costs the first paint more than all that it formats. */
export function grouped(n: number): string {
  return Number.isSafeInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, ',') : n.toLocaleString(locale());
}

export function fill(phrase: Phrase, vars: Vars): string {
  const text = typeof phrase === 'string' ? phrase : Number(vars.n) === 1 ? (phrase.one ?? phrase.other) : phrase.other;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = vars[name];
    return value === undefined ? whole : typeof value === 'number' ? grouped(value) : value;
  });
}

/** t('tasks.selected', { n: 12 }) */
export function t(key: Key, vars: Vars = {}): string {
  const phrase = words.value[key];
  return phrase === undefined ? key : fill(phrase, vars);
}

/** For words that come from the server: a state, an event, an error code. What is unknown is shown as it came. */
export function word(group: string, name: string, vars: Vars = {}): string {
  const phrase = words.value[`${group}.${name}`];
  return phrase === undefined ? name : fill(phrase, vars);
}
