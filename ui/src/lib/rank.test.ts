import { expect, test } from 'vitest';
import { rank, wholeId } from './rank';

const names = (typed: string, ...texts: string[]) => rank(texts.map(text => ({ text })), typed, 10).map(entry => entry.text);

test('whole beats beginning beats word beats anywhere beats letters in order', () => {
  expect(names('que', 'unique', 'q u e', 'my queue', 'queues', 'que')).toEqual(['que', 'queues', 'my queue', 'unique', 'q u e']);
});

test('equals keep their order, and what does not match is left out', () => {
  expect(names('s', 'system', 'settings', 'tasks', 'overview')).toEqual(['system', 'settings', 'tasks']);
});

test('nothing typed shows the first ones', () => {
  expect(rank([{ text: 'a' }, { text: 'b' }, { text: 'c' }], '  ', 2).map(entry => entry.text)).toEqual(['a', 'b']);
});

test('other words for an entry find it, just behind those that are called so', () => {
  expect(rank([{ text: '失败', also: 'failures' }, { text: 'failures' }], 'failures', 5).map(entry => entry.text)).toEqual(['failures', '失败']);
});

test('full-width signs are read as ASCII', () => {
  expect(names('state：q', 'state:queued')).toEqual(['state:queued']);
});

test('an id is recognised with and without its dashes, and nothing shorter is', () => {
  const id = '01a1e48a-5c1c-705e-91e9-cb6609b2cc59';
  expect(wholeId(` ${id.toUpperCase()} `)).toBe(id);
  expect(wholeId(id.replaceAll('-', ''))).toBe(id);
  expect(wholeId('01a1e48a')).toBe(undefined);
});
