import { cleanup, fireEvent, render } from '@testing-library/preact';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../lib/api';
import { loadWords } from '../lib/i18n';
import { lang } from '../lib/settings';
import type { Facets } from '../lib/types';
import { FilterBar, suggestions } from './FilterBar';

const facets: Facets = { total: 9, exact: true, scanned: 0, facets: { state: [{ value: 'succeeded', count: 7 }, { value: 'suspended', count: 2 }], queue: [{ value: 'two words', count: 9 }] } };
beforeAll(async () => {
  lang.value = 'en';
  await loadWords();
});

afterEach(cleanup);

describe('suggestions', () => {
  const shown = (query: string) => suggestions(query, query.length, facets).map(one => one.shown);
  test('are fields first', () => {
    expect(shown('')).toContain('state');
    expect(shown('sta')).toEqual(['state']);
    expect(shown('state:failed -qu')).toEqual(['queue']);
  });
  test('then values, with how many there are', () => {
    expect(shown('state:s')).toEqual(['succeeded', 'suspended']);
    expect(suggestions('state:sus', 9, facets)[0]).toMatchObject({ says: 'suspended · 2', start: 6, end: 9 });
    expect(suggestions('queue:', 6, facets)[0]).toMatchObject({ text: '"two words"', shown: 'two words' });
  });
  test('are examples where nothing is counted', () => {
    expect(shown('age:<')).toEqual(['<15m', '<1h', '<1d']);
  });
});

describe('the search box', () => {
  const open = (query = '', error?: ApiError) => {
    const onQuery = vi.fn();
    const { getByRole, container } = render(<FilterBar query={query} onQuery={onQuery} facets={facets} error={error} />);
    return { onQuery, container, input: getByRole('combobox') as HTMLInputElement };
  };
  const write = (input: HTMLInputElement, text: string) => {
    fireEvent.input(input, { target: { value: text } });
    input.setSelectionRange(text.length, text.length);
    fireEvent.click(input);
  };

  test('searches on Enter, and takes the chosen suggestion before that', () => {
    const { input, onQuery } = open();
    write(input, 'state:sus');
    fireEvent.keyDown(input, { key: 'ArrowDown' });
    fireEvent.keyDown(input, { key: 'Enter' });
    expect(onQuery).not.toHaveBeenCalled();
    expect(input.value).toBe('state:suspended ');
    fireEvent.keyDown(input, { key: 'Enter' });
    expect(onQuery).toHaveBeenCalledWith('state:suspended');
  });

  test('leaves Enter and suggestions alone while somebody composes', () => {
    const { input, onQuery, container } = open();
    fireEvent.compositionStart(input);
    write(input, 'sta');
    expect(container.querySelectorAll('[role=option]')).toHaveLength(0);
    fireEvent.keyDown(input, { key: 'Enter', isComposing: true });
    expect(onQuery).not.toHaveBeenCalled();
    fireEvent.compositionEnd(input);
    expect(container.querySelectorAll('[role=option]').length).toBeGreaterThan(0);
  });

  test('points at the word that the server names, in the language of the page', () => {
    const { container } = open('state:failed kind:x', new ApiError(422, 'invalid_argument', 'there is no field kind; did you mean type?', 'q', undefined, 13));
    const mistake = container.querySelector('.filter-mistake')!;
    expect(mistake.querySelector('mark')?.textContent).toBe('kind');
    expect(mistake.textContent).toContain('Did you mean type?');
  });

  test('says in the words of the server what only that knows', () => {
    const { container } = open('age:<5x', new ApiError(422, 'invalid_argument', 'q: a duration is like 5m', 'q', undefined, 5));
    expect(container.querySelector('.filter-mistake span')?.textContent).toBe('a duration is like 5m');
  });

  test('says what looks wrong before the search, but not of what is being written', () => {
    const { container, input } = open();
    write(input, 'kind:x');
    expect(container.querySelector('.filter-mistake')).toBeNull();
    write(input, 'kind:x queue:a');
    expect(container.querySelector('.filter-mistake')?.textContent).toContain('Did you mean type?');
  });

  test('leaves what was searched for to the server', () => {
    expect(open('someday:new').container.querySelector('.filter-mistake')).toBeNull();
  });

  test('takes a clause away with its chip', () => {
    const { container, onQuery } = open('state:failed -queue:a');
    const chips = container.querySelectorAll('.chip button');
    expect(chips).toHaveLength(2);
    fireEvent.click(chips[0]!);
    expect(onQuery).toHaveBeenCalledWith('-queue:a');
  });
});
