import { describe, expect, test } from 'vitest';
import { fitsState, hasValue, isCounted, parse, placeOf, plain, quote, toggle, typingAt, without, withoutField } from './filter';

const shape = (query: string) => parse(query).clauses.map(c => [(c.negated ? '-' : '') + c.field, ...c.values.map(v => v.text)]);

describe('parse', () => {
  test('clauses are separated by blanks, values by commas', () => {
    expect(shape('state:failed,suspended  type:image.* age:<1h')).toEqual([['state', 'failed', 'suspended'], ['type', 'image.*'], ['age', '<1h']]);
  });
  test('a leading minus negates, a bare word has no field', () => {
    expect(shape('-tenant:demo 01a1e48a')).toEqual([['-tenant', 'demo'], ['', '01a1e48a']]);
  });
  test('quotes keep blanks and commas together, also behind a tilde', () => {
    expect(shape('error:~"429, too many" queue:"a \\"b\\""')).toEqual([['error', '~429, too many'], ['queue', 'a "b"']]);
  });
  test('full-width signs are read as their twins, and every character keeps its place', () => {
    const query = 'state：failed，suspended　age：＜1h';
    expect(shape(query)).toEqual(shape('state:failed,suspended age:<1h'));
    expect(plain(query)).toHaveLength(query.length);
  });
  test('dotted fields are payload paths and labels', () => {
    expect(parse('input.user.plan:pro label.tier:gold').mistake).toBeUndefined();
    expect(parse('input.:pro').mistake?.is).toBe('field');
  });
  test('a bare word may have a comma, a field name may be Chinese', () => {
    expect(shape('a,b label.城市：“上海、北京”')).toEqual([['', 'a,b'], ['label.城市', '上海、北京']]);
  });
  test('clauses know where they stand', () => {
    const query = ' -queue:a,b x';
    const [clause] = parse(query).clauses;
    expect(query.slice(clause!.start, clause!.end)).toBe('-queue:a,b');
    expect(clause!.values.map(v => query.slice(v.start, v.end))).toEqual(['a', 'b']);
  });
});

describe('mistakes point at the character', () => {
  test.each([
    ['state:failed kind:x', { position: 13, is: 'field', meant: 'type' }],
    ['quue:x', { position: 0, is: 'field', meant: 'queue' }],
    ['-stat:x', { position: 1, is: 'field', meant: 'state' }],
    ['queue:', { position: 6, is: 'value' }],
    ['state:failed,,queued', { position: 13, is: 'value' }],
    ['state:faild', { position: 6, is: 'state', meant: 'failed' }],
    ['error:~"no end', { position: 7, is: 'quote' }],
  ])('%s', (query, wanted) => {
    expect(parse(query).mistake).toMatchObject(wanted);
  });
  test('what is right has none', () => {
    expect(parse('state:failed -queue:a error:~"x" attempt:>=3 created:2026-11-01..2026-11-08 abc').mistake).toBeUndefined();
  });
});

describe('clicks change the query', () => {
  test('a facet adds its value to the clause that is there', () => {
    expect(toggle('state:failed age:<1h', 'state', 'queued')).toBe('state:failed,queued age:<1h');
    expect(toggle('', 'queue', 'two words')).toBe('queue:"two words"');
  });
  test('a second click takes it away, and the clause with its last value', () => {
    expect(toggle('state:failed,queued age:<1h', 'state', 'failed')).toBe('state:queued age:<1h');
    expect(toggle('state:failed age:<1h', 'state', 'failed')).toBe('age:<1h');
  });
  test('a negated clause is left alone', () => {
    expect(toggle('-state:failed', 'state', 'queued')).toBe('-state:failed state:queued');
    expect(hasValue('-state:failed', 'state', 'failed')).toBe(false);
  });
  test('a chip takes its clause away', () => {
    const query = 'a state:x b';
    expect(without(query, parse(query).clauses[1]!)).toBe('a b');
    expect(withoutField('state:a x -state:b', 'state')).toBe('x');
  });
  test('a quoted value reads back as itself', () => {
    for (const value of ['a b', 'say "hi"', 'back\\slash', '-x', '>5', 'a..b', 'a*', '（全角）', 'plain']) {
      expect(parse(`type:${quote(value)}`).clauses[0]!.values.map(v => v.text)).toEqual([value]);
    }
  });
});

test('what the counters can answer is known', () => {
  expect(isCounted('state:failed queue:a -type:b')).toBe(true);
  expect(isCounted('')).toBe(true);
  for (const query of ['tenant:a', 'type:a*', 'word', 'age:<1h']) expect(isCounted(query)).toBe(false);
});

test('a row that left the searched states is known', () => {
  expect(fitsState('state:suspended queue:a', 'queued')).toBe(false);
  expect(fitsState('-state:succeeded', 'queued')).toBe(true);
  expect(fitsState('-state:succeeded', 'succeeded')).toBe(false);
  expect(fitsState('queue:a', 'queued')).toBe(true);
});

test('the caret says what is being written', () => {
  expect(typingAt('sta', 3)).toMatchObject({ is: 'field', typed: 'sta', start: 0, end: 3 });
  expect(typingAt('state:fa', 8)).toMatchObject({ is: 'value', field: 'state', typed: 'fa', start: 6, end: 8 });
  expect(typingAt('state:a,b', 9)).toMatchObject({ is: 'value', typed: 'b', start: 8, end: 9 });
  expect(typingAt('state:a ', 8)).toMatchObject({ is: 'field', typed: '', start: 8 });
  expect(typingAt('-que', 4)).toMatchObject({ is: 'field', typed: 'que', start: 1 });
});

test("a place in the server's count is found in the text", () => {
  expect(placeOf('type:😀 kind:x', 7)).toBe(8);
  expect(placeOf('abc', 2)).toBe(2);
});
