// The shell: where one is, where one can go, and what keeps the page alive.
import { signal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon, Loading, type IconName } from './components/basics';
import { Asking, Dialog } from './components/Dialog';
import { get } from './lib/api';
import { shortNumber, shortTime, zoneName } from './lib/format';
import { t, type Key } from './lib/i18n';
import { listAhead, suspendedAhead } from './lib/listing';
import { activeShortcuts, useKeys } from './lib/keys';
import { dismiss, toasts } from './lib/notices';
import { useResource } from './lib/resource';
import { lang, shortcuts, theme } from './lib/settings';
import { counters, heardAt, paused, status } from './lib/stream';
import type { Readiness } from './lib/types';
import { go, href, param, path } from './lib/url';

/** A page as the navigation and the router know it. What the server does not have yet has no row. */
interface PageEntry {
  /** Its part of the address behind /ui/; '' is the overview. */
  id: string;
  icon: IconName;
  title: Key;
  /** 'g' and this letter go there. */
  key: string;
  load(): Promise<{ default: ComponentType<{ id: string }> }>;
  /** Opened when the address has something behind the page's own part. */
  detail?(): Promise<{ default: ComponentType<{ id: string }> }>;
  /** Asks for what the page shows first, while its script is still under way. */
  ahead?(): Promise<void>;
  /** How many there are, for the badge. */
  count?(): number;
}

const PAGES: readonly PageEntry[] = [
  { id: '', icon: 'overview', title: 'nav.overview', key: 'o', load: () => import('./pages/Overview') },
  { id: 'tasks', icon: 'tasks', title: 'nav.tasks', key: 't', load: () => import('./pages/Tasks'), ahead: () => listAhead(param('q')), detail: () => import('./pages/Task') },
  { id: 'failures', icon: 'failures', title: 'nav.failures', key: 'f', load: () => import('./pages/Failures') },
  { id: 'suspended', icon: 'suspended', title: 'nav.suspended', key: 's', load: () => import('./pages/Suspended'), ahead: () => suspendedAhead(param('q')), count: () => counters.value?.tasks.suspended ?? 0 },
  { id: 'queues', icon: 'queues', title: 'nav.queues', key: 'q', load: () => import('./pages/Queues'), detail: () => import('./pages/Queue') },
  { id: 'workers', icon: 'workers', title: 'nav.workers', key: 'w', load: () => import('./pages/Workers') },
  { id: 'system', icon: 'system', title: 'nav.system', key: 'y', load: () => import('./pages/System') },
  { id: 'settings', icon: 'settings', title: 'nav.settings', key: 'e', load: () => import('./pages/Settings') },
];

function pageOf(local: string): { entry: PageEntry | undefined; id: string } {
  const [, , name = '', id = ''] = local.split('/');
  return { entry: PAGES.find(page => page.id === name), id: decodeURIComponent(id) };
}

const helping = signal(false);
const searching = signal(false);
const menuOpen = signal(false);
/** What the server says about itself; pages may read it too. */
export const readiness = signal<Readiness | undefined>(undefined);

function Navigation({ current }: { current: PageEntry | undefined }) {
  return (
    <nav class={menuOpen.value ? 'nav open' : 'nav'} aria-label={t('nav.label')}>
      <ul>
        {PAGES.map(page => {
          const count = page.count?.() ?? 0;
          return (
            <li>
              <a href={href(page.id)} aria-current={page === current ? 'page' : undefined} onClick={() => (menuOpen.value = false)}>
                <Icon name={page.icon} />
                <span>{t(page.title)}</span>
                {count > 0 && <span class="badge">{shortNumber(count)}</span>}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function Live() {
  const now = status.value;
  const text = now === 'stale' ? t('live.stale', { at: heardAt.value ? shortTime(heardAt.value) : '–' }) : t(`live.${now}`);
  return (
    <button type="button" class={`live live-${now}`} title={t('live.toggle')} aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
      <span class="dot" aria-hidden="true" />
      <span>{text}</span>
    </button>
  );
}

const NEXT_THEME = { system: 'light', light: 'dark', dark: 'system' } as const;
function nextTheme(): void {
  theme.value = NEXT_THEME[theme.value];
}
function nextLang(): void {
  lang.value = lang.value === 'en' ? 'zh' : 'en';
}

function TopBar() {
  const server = readiness.value;
  return (
    <header class="top">
      <button type="button" class="quiet menu" aria-expanded={menuOpen.value} onClick={() => (menuOpen.value = !menuOpen.value)}>
        <Icon name="menu" />
        <span class="sr">{t('nav.menu')}</span>
      </button>
      <a class="brand" href={href('')}>holdfast</a>
      {server?.read_only && <span class="tag">{t('top.read_only')}</span>}
      <span class="spring" />
      <button type="button" class="quiet find" title={t('palette.title')} onClick={() => (searching.value = true)}><Icon name="search" /><span class="sr">{t('palette.title')}</span><kbd class="find-key" aria-hidden="true">Ctrl K</kbd></button>
      <Live />
      <a class="quiet zone" href={href('settings')} title={t('top.zone')}>{zoneName()}</a>
      <button type="button" class="quiet" lang={lang.value === 'en' ? 'zh-CN' : 'en'} title={t('top.lang')} onClick={nextLang}>{lang.value === 'en' ? '中文' : 'EN'}</button>
      <button type="button" class="quiet" title={t('top.theme')} onClick={nextTheme}>{t(`theme.${theme.value}`)}</button>
      <button type="button" class="quiet help" title={t('top.help')} onClick={() => (helping.value = true)}>?<span class="sr">{t('top.help')}</span></button>
    </header>
  );
}

function Help() {
  return (
    <Dialog title={t('help.title')} onClose={() => (helping.value = false)}>
      {shortcuts.value === 'off' && <p class="warn-text">{t('help.off')} <a href={href('settings')} onClick={() => (helping.value = false)}>{t('nav.settings')}</a></p>}
      <dl class="keys">
        {activeShortcuts.value.map(shortcut => (
          <div>
            <dt>{shortcut.keys.split(' ').map(key => <kbd>{key}</kbd>)}</dt>
            <dd>{t(shortcut.says)}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-actions"><button type="button" onClick={() => (helping.value = false)}>{t('common.close')}</button></div>
    </Dialog>
  );
}

/** A chunk of its own: it comes when it is first asked for. */
function Search() {
  const [Palette, setPalette] = useState<ComponentType<{ pages: readonly PageEntry[]; onClose(): void }>>();
  useEffect(() => void import('./components/Palette').then(module => setPalette(() => module.default)), []);
  return Palette ? <Palette pages={PAGES} onClose={() => (searching.value = false)} /> : null;
}

function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(one => (
        <div key={one.n} class={`toast ${one.tone}`}>
          <span>{one.text}</span>
          <button type="button" class="quiet" onClick={() => dismiss(one.n)}><Icon name="close" /><span class="sr">{t('common.close')}</span></button>
        </div>
      ))}
    </div>
  );
}

const ROWS_LATE = 200;
type Loader = PageEntry['load'];
const loading = new Map<Loader, Promise<void>>();
const loaded = new Map<Loader, ComponentType<{ id: string }>>();

function loaderOf(local: string): Loader | undefined {
  const { entry, id } = pageOf(local);
  return id !== '' && entry?.detail ? entry.detail : entry?.load;
}

/** Loads the page of the address; begun while the words are still under way. */
export async function loadPage(): Promise<void> {
  const load = loaderOf(path.peek());
  if (!load) return;
  if (!loading.has(load)) loading.set(load, begin(load));
  await loading.get(load);
}
async function begin(load: Loader): Promise<void> {
  const { entry } = pageOf(path.peek());
  const answered = entry?.load === load ? entry.ahead?.() : undefined;
  try {
    loaded.set(load, (await load()).default);
    // A page that comes with its rows is drawn once; one whose rows are late is drawn without them.
    if (answered) await Promise.race([answered, new Promise(done => setTimeout(done, ROWS_LATE))]);
  } catch (error) {
    loading.delete(load); // it may be tried again
    throw error;
  }
}

/** The page of the address; the one before stays until it is there. */
function Routed() {
  const { entry, id } = pageOf(path.value);
  const load = loaderOf(path.value);
  const Shown = load && loaded.get(load);
  const [, shown] = useState(0);
  useEffect(() => {
    if (load && !Shown) void loadPage().then(() => shown(n => n + 1));
  }, [load]);
  if (!load) return <main id="main" class="page"><h1>{t('nav.nowhere')}</h1><p><a href={href('')}>{t('nav.overview')}</a></p></main>;
  return Shown ? <Shown key={`${entry!.id}/${id}`} id={id} /> : <main id="main" class="page"><Loading /></main>;
}

export function App() {
  const { entry } = pageOf(path.value);
  const server = useResource('readyz', signal => get<Readiness>('readyz', {}, signal), { every: 10_000 });
  useSignalEffect(() => {
    if (server.data.value) readiness.value = server.data.value;
  });
  useEffect(() => {
    document.title = entry ? `${t(entry.title)} · Holdfast` : 'Holdfast';
  }, [entry, lang.value]);
  useKeys([
    ...PAGES.map(page => ({ keys: `g ${page.key}`, says: page.title, run: () => go(href(page.id)) })),
    { keys: 'Ctrl+K', says: 'palette.title', run: () => (searching.value = !searching.value) },
    { keys: '?', says: 'help.title', run: () => (helping.value = true) },
    { keys: '.', says: 'live.toggle', run: () => (paused.value = !paused.value) },
    { keys: 'Shift+t', says: 'top.theme', run: nextTheme },
    { keys: 'Shift+l', says: 'top.lang', run: nextLang },
  ]);
  return (
    <>
      <a class="skip" href="#main">{t('nav.skip')}</a>
      <TopBar />
      <div class="frame">
        <Navigation current={entry} />
        <Routed />
      </div>
      <Toasts />
      <Asking />
      {helping.value && <Help />}
      {searching.value && <Search />}
    </>
  );
}
