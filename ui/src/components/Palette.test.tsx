import { render } from '@testing-library/preact';
import { expect, test, vi } from 'vitest';
import { loadWords } from '../lib/i18n';
import { commandsFor, type PalettePage } from './Palette';
import { Pick } from './Pick';

const PAGES: PalettePage[] = [{ id: '', title: 'nav.overview', icon: 'overview', key: 'o' }, { id: 'queues', title: 'nav.queues', icon: 'queues', key: 'q' }];
const found = async (typed: string, queues: string[] = []) => {
  await loadWords();
  return commandsFor(typed, PAGES, queues).map(command => command.id);
};

test('a pasted id is that task and nothing else', async () => {
  expect(await found('01a1e48a-5c1c-705e-91e9-cb6609b2cc59', ['a'])).toEqual(['task']);
});

test('a filter that was written out comes first, words come before the search for them', async () => {
  expect((await found('state：failed'))[0]).toBe('search');
  const all = await found('overview');
  expect(all[0]).toBe('page ');
  expect(all.at(-1)).toBe('search');
});

test('a queue is found by its name', async () => {
  expect((await found('gpu', ['images', 'gpu-video']))[0]).toBe('queue gpu-video');
});

test('the box announces what the arrows choose, and Enter takes it', async () => {
  await loadWords();
  const onPick = vi.fn();
  const { getByRole, getAllByRole, findByRole } = render(<Pick label="Go" typed="" open choices={[{ id: 'a', text: 'A' }, { id: 'b', text: 'B' }]} onType={() => {}} onPick={onPick} />);
  const box = getByRole('combobox');
  const press = (key: string) => box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  press('ArrowDown');
  await findByRole('option', { name: 'B', selected: true });
  expect(box.getAttribute('aria-activedescendant')).toBe(getAllByRole('option')[1]!.id);
  expect(box.getAttribute('aria-controls')).toBe(getByRole('listbox').id);
  press('Enter');
  expect(onPick).toHaveBeenCalledWith(expect.objectContaining({ id: 'b' }));
});
