import { describe, expect, test } from 'vitest';
import { changedParts, diffLines } from './diff';
import { check, compact, elements, members, pieces, pretty } from './json';

describe('JSON as text', () => {
  const sent = '{"id":12345678901234567890,"price":1.10,"a":{"b":[1,2,{}],"c":[]},"t":"x, {y} \\"z\\"","n":null}';
  test('is put on lines without touching a value', () => {
    expect(pretty(sent)).toContain('"id": 12345678901234567890,\n  "price": 1.10,');
    expect(JSON.parse(pretty(sent))).toEqual(JSON.parse(sent));
    expect(compact(pretty(sent))).toBe(sent);
    expect(pretty('{"a":{},"b":[]}')).toBe('{\n  "a": {},\n  "b": []\n}');
  });
  test('gives its members as their own text', () => {
    const found = members(sent);
    expect([...found.keys()]).toEqual(['id', 'price', 'a', 't', 'n']);
    expect(found.get('id')).toBe('12345678901234567890');
    expect(found.get('a')).toBe('{"b":[1,2,{}],"c":[]}');
    expect(found.get('t')).toBe('"x, {y} \\"z\\""');
  });
  test('gives its elements as their own text', () => {
    expect(elements('[ {"a":[1,2]}, "x,]", 12345678901234567890 ]')).toEqual(['{"a":[1,2]}', '"x,]"', '12345678901234567890']);
    expect(elements('[]')).toEqual([]);
  });
  test.each(['{}', '[1, 2]', '"a"', '-0.5e+3', ' {"a": [true, null]} ', sent])('what is right has no mistake: %s', text => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(check(text)).toBeUndefined();
  });
  test.each([
    ['{"a":1,}', 1, 8],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a" 1}', 1, 6],
    ['[1, 2', 1, 6],
    ['', 1, 1],
    ["{'a': 1}", 1, 2],
    ['{"a": 01}', 1, 8],
    ['[1]]', 1, 4],
    ['{"a":"x\ny"}', 1, 6],
    ['[,]', 1, 2],
    ['{"a":}', 1, 6],
  ])('a mistake is told by line and column: %s', (text, line, column) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(check(text)).toMatchObject({ line, column });
  });
  test('colours lose nothing, also of a text that was cut', () => {
    for (const text of [pretty(sent), pretty(sent).slice(0, 61)]) expect(pieces(text).map(piece => piece.text).join('')).toBe(text);
    expect(pieces('{"a": 1}').filter(piece => piece.is === 'key').map(piece => piece.text)).toEqual(['"a"']);
  });
});

describe('the difference of two texts', () => {
  const shown = (a: string, b: string) => diffLines(a, b).map(line => ({ same: ' ', gone: '-', new: '+' })[line.is] + line.text);
  test('says what went and what came', () => {
    expect(shown('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
  });
  test('is nothing between equals', () => {
    expect(diffLines('a\nb', 'a\nb').every(line => line.is === 'same')).toBe(true);
  });
  test('reads back to both texts', () => {
    const a = Array.from({ length: 200 }, (_, n) => `line ${n % 17}`).join('\n');
    const b = Array.from({ length: 190 }, (_, n) => `line ${(n * 3) % 19}`).join('\n');
    const lines = diffLines(a, b);
    expect(lines.filter(line => line.is !== 'new').map(line => line.text).join('\n')).toBe(a);
    expect(lines.filter(line => line.is !== 'gone').map(line => line.text).join('\n')).toBe(b);
  });
  test('huge texts are replaced whole rather than compared for ever', () => {
    const a = Array.from({ length: 3_000 }, (_, n) => `a${n}`).join('\n');
    const b = Array.from({ length: 3_000 }, (_, n) => `b${n}`).join('\n');
    expect(diffLines(a, b)).toHaveLength(6_000);
  });
  test('leaves out what is far from a change', () => {
    const a = Array.from({ length: 30 }, (_, n) => `${n}`).join('\n');
    expect(changedParts(diffLines(a, a.replace('\n15\n', '\nx\n')), 1).map(line => line?.text ?? '…')).toEqual(['…', '14', '15', 'x', '16', '…']);
  });
});
