import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import en from './en';
import zh from './zh';

type Phrase = string | { one?: string; other: string };
const texts = (phrase: Phrase) => (typeof phrase === 'string' ? [phrase] : Object.values(phrase));
const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(match => match[1]).sort();
const keys = Object.keys(en) as (keyof typeof en)[];

test('both languages have the same keys', () => {
  expect(Object.keys(zh).sort()).toEqual([...keys].sort());
});

test('no part of the words takes a key from another', () => {
  for (const language of ['en', 'zh']) {
    const folder = join(import.meta.dirname, language);
    const all = readdirSync(folder).flatMap(name => [...readFileSync(join(folder, name), 'utf8').matchAll(/^  '([\w.]+)':/gm)].map(match => match[1]!));
    expect(all.filter((key, at) => all.indexOf(key) !== at)).toEqual([]);
  }
});

test('a phrase has the same placeholders in both languages', () => {
  for (const key of keys) {
    const wanted = holes(texts(en[key] as Phrase).at(-1)!);
    for (const text of texts(zh[key] as Phrase)) expect(holes(text), key).toEqual(wanted);
  }
});

test('nothing is left in English by mistake', () => {
  const same = keys.filter(key => texts(en[key] as Phrase).join() === texts(zh[key] as Phrase).join());
  expect(same.filter(key => /[a-z]{4,} [a-z]{2,}/i.test(texts(en[key] as Phrase).join()))).toEqual([]);
});

/** Words for what the server names are looked up by the name it sends. */
const BY_NAME = /^(state|event|code|why|kind|theme|live|bulk_action|bulk_title|bulk_do|act|audit|role|check)\./;

test('every key is used', () => {
  const folder = join(import.meta.dirname, '..');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name) && !name.includes('i18n/') && !name.includes('.test.'))
    .map(name => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  expect(keys.filter(key => !BY_NAME.test(key) && !sources.includes(`'${key}'`))).toEqual([]);
});
