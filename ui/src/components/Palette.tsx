// Ctrl K: where to go and what to look at, by a few letters.
import { useComputed } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';
import { plain } from '../lib/filter';
import { t, type Key } from '../lib/i18n';
import { rank, wholeId, type Entry } from '../lib/rank';
import { lang, theme } from '../lib/settings';
import { counters, paused } from '../lib/stream';
import { STATES } from '../lib/types';
import { go, href } from '../lib/url';
import type { IconName } from './basics';
import { Dialog } from './Dialog';
import { Pick, type Choice } from './Pick';

export interface PalettePage {
  id: string;
  title: Key;
  icon: IconName;
  key: string;
}
interface Command extends Choice, Entry {
  run(): void;
}

const MOST = 12;
const to = (where: string) => () => go(where);

function fixed(pages: readonly PalettePage[]): Command[] {
  const tab = (id: string, title: Key): Command => ({ id: `tab ${id}`, text: `${t('nav.system')} › ${t(title)}`, also: `${t(title)}|${id}`, icon: 'system', hint: t('palette.page'), run: to(href('system', { tab: id })) });
  const filter = (q: string, title: Key): Command => ({ id: `q ${q}`, text: t(title), also: q, icon: 'tasks', hint: <code>{q}</code>, run: to(href('tasks', { q })) });
  const act = (id: string, title: Key, also: string, run: () => void): Command => ({ id, text: t(title), also, icon: 'settings', hint: t('palette.act'), run });
  return [
    ...pages.map((page): Command => ({ id: `page ${page.id}`, text: t(page.title), also: page.id || 'overview', icon: page.icon, hint: <><kbd>g</kbd> <kbd>{page.key}</kbd></>, run: to(href(page.id)) })),
    tab('audit', 'system.audit'), tab('bulk', 'system.bulk'), tab('doctor', 'system.doctor'), tab('config', 'system.config'),
    filter('state:failed age:<1h', 'palette.failed_hour'), filter('state:running running:>10m', 'palette.long'), filter('state:retrying', 'palette.retrying'), filter('state:queued', 'palette.queued'),
    act('theme dark', 'palette.dark', 'theme dark', () => (theme.value = 'dark')),
    act('theme light', 'palette.light', 'theme light', () => (theme.value = 'light')),
    act('lang', 'top.lang', 'language English 中文', () => (lang.value = lang.value === 'en' ? 'zh' : 'en')),
    act('live', 'live.toggle', 'pause live', () => (paused.value = !paused.value)),
  ];
}

/** What was typed, taken at its word: an id is a task, anything else a search. */
function literal(typed: string): Command[] {
  const text = plain(typed).trim();
  if (text === '') return [];
  const id = wholeId(text);
  if (id) return [{ id: 'task', text: t('palette.task'), hint: <span class="id">{id}</span>, icon: 'tasks', run: to(href(`tasks/${id}`)) }];
  return [{ id: 'search', text: t('palette.search', { text }), hint: t('palette.filter'), icon: 'search', run: to(href('tasks', { q: text })) }];
}

export function commandsFor(typed: string, pages: readonly PalettePage[], queues: readonly string[]): Command[] {
  const id = literal(typed);
  if (id[0]?.id === 'task') return id;
  const own = fixed(pages);
  const named = queues.map((name): Command => ({ id: `queue ${name}`, text: name, icon: 'queues', hint: t('palette.queue'), run: to(href(`queues/${encodeURIComponent(name)}`)) }));
  const states = STATES.map((state): Command => ({ id: `state ${state}`, text: `state:${state}`, also: t(`state.${state}`), icon: 'tasks', hint: t(`state.${state}`), run: to(href('tasks', { q: `state:${state}` })) }));
  const found = rank(typed.trim() === '' ? own : [...own, ...named, ...states], typed, MOST);
  // A filter that somebody wrote out is what he wants.
  return plain(typed).includes(':') ? [...id, ...found] : [...found, ...id];
}

export default function Palette({ pages, onClose }: { pages: readonly PalettePage[]; onClose(): void }) {
  const [typed, setTyped] = useState('');
  // Counts change every second, names hardly ever: the list rests while they do.
  const names = useComputed(() => [...new Set(counters.value?.queues.map(row => row.queue) ?? [])].join('\n')).value;
  const queues = useMemo(() => (names === '' ? [] : names.split('\n')), [names]);
  const choices = useMemo(() => commandsFor(typed, pages, queues), [typed, pages, queues]);
  return (
    <Dialog title={t('palette.title')} onClose={onClose}>
      <div class="palette">
        <Pick
          label={t('palette.title')} placeholder={t('palette.placeholder')} typed={typed} choices={choices} open onType={setTyped}
          onPick={choice => {
            onClose();
            choice.run();
          }}
        />
      </div>
    </Dialog>
  );
}
