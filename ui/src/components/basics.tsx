// The small things that every page is made of.
import type { ComponentChildren } from 'preact';
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { duration, fullTime, shortId, shortTime } from '../lib/format';
import { t, word, type Key } from '../lib/i18n';
import { toast } from '../lib/notices';
import type { ApiError } from '../lib/api';
import { explainError } from '../lib/notices';
import { href } from '../lib/url';

// ---- state: colour, shape and word ----

const SHAPES: Readonly<Record<string, string>> = {
  waiting: '◌', queued: '○', dispatched: '◔', accepted: '◑', running: '◐', retrying: '↻', paused: '‖',
  suspended: '■', succeeded: '✓', failed: '✕', cancelled: '⊘', discarded: '–',
};
/** `says`: what the state is called where it has another name. */
export function StateMark({ state, word: shown = true, says }: { state: string; word?: boolean; says?: string | undefined }) {
  const name = says ?? word('state', state);
  return (
    <span class={`state state-${state}`} title={shown ? undefined : name}>
      <span class="shape" aria-hidden={shown}>{SHAPES[state] ?? '?'}</span>
      {shown ? <span>{name}</span> : <span class="sr">{name}</span>}
    </span>
  );
}

// ---- time ----

/** Ticks once a second for whatever shows how long ago something was. */
export const clock = signal(Date.now());
setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 1_000);

export function At({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="muted">–</span>;
  return <time dateTime={at} title={fullTime(at)}>{shortTime(at)}</time>;
}
/** "4m 10s", growing. With `until`, the time between the two. */
export function Since({ at, until }: { at: string | null | undefined; until?: string | null | undefined }) {
  if (!at) return <span class="muted">–</span>;
  const ms = Math.max(0, (until ? Date.parse(until) : clock.value) - Date.parse(at));
  // Of what grows, parts of a second are noise.
  return <time dateTime={at} title={fullTime(at)}>{!until && ms < 1_000 ? '0s' : duration(ms)}</time>;
}
/** Counts down to a moment. */
export function Until({ at }: { at: string }) {
  return <time dateTime={at} title={fullTime(at)}>{duration(Math.max(0, Date.parse(at) - clock.value))}</time>;
}

// ---- ids and things to copy ----

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('common.copied'), 'info');
  } catch {
    toast(t('common.copy_failed'), 'bad');
  }
}
export function CopyButton({ text, label }: { text: string | (() => string); label?: string }) {
  return (
    <button type="button" class="quiet" title={t('common.copy')} onClick={() => void copy(typeof text === 'string' ? text : text())}>
      {label ?? <Icon name="copy" />}
      {label === undefined && <span class="sr">{t('common.copy')}</span>}
    </button>
  );
}
export function TaskLink({ id, whole = false }: { id: string; whole?: boolean }) {
  return <a class="id" href={href(`tasks/${id}`)} title={id}>{whole ? id : shortId(id)}</a>;
}
/** A long name, which may go on in the next line between its parts. */
export function Broken({ name }: { name: string }) {
  return <>{name.split(/(?<=[._:/-])/).map(part => <>{part}<wbr /></>)}</>;
}
/** A command that somebody may paste into a terminal. */
export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </span>
  );
}

// ---- page ----

export function Page({ title, actions, children, wide = false }: { title: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; wide?: boolean }) {
  return (
    <main id="main" class={wide ? 'page wide' : 'page'} tabIndex={-1}>
      <header class="page-head">
        <h1>{title}</h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}
export function Section({ title, actions, children, class: name = '' }: { title?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`section ${name}`}>
      {title !== undefined && (
        <header class="section-head">
          <h2>{title}</h2>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
/** What stands where something could not be read. The old data stays visible beside it. */
export function Trouble({ error, retry }: { error: ApiError | undefined; retry?: () => void }) {
  if (!error) return null;
  return (
    <div class="trouble" role="alert">
      <span>{explainError(error)}</span>
      {retry && <button type="button" onClick={retry}>{t('common.try_again')}</button>}
    </div>
  );
}
export function Loading() {
  return <div class="loading" role="status">{t('common.loading')}</div>;
}

export function Tabs<T extends string>({ tabs, current, onChange, label }: { tabs: readonly { id: T; text: ComponentChildren }[]; current: T; onChange(id: T): void; label: string }) {
  const move = (event: KeyboardEvent & { currentTarget: HTMLDivElement }) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex(tab => tab.id === current);
    const next = tabs[(at + step + tabs.length) % tabs.length]!;
    onChange(next.id);
    (event.currentTarget.querySelector(`[data-tab="${next.id}"]`) as HTMLElement | null)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(tab => (
        <button type="button" role="tab" data-tab={tab.id} id={`tab-${tab.id}`} aria-selected={tab.id === current} tabIndex={tab.id === current ? 0 : -1} onClick={() => onChange(tab.id)}>
          {tab.text}
        </button>
      ))}
    </div>
  );
}

/** A button that is busy while its act is under way, so that nobody does it twice. */
export function Act({ run, children, tone, disabled, title }: { run(): Promise<unknown>; children: ComponentChildren; tone?: 'main' | 'bad' | 'quiet'; disabled?: boolean; title?: string }) {
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      await run();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class={tone} disabled={disabled || busy} aria-busy={busy} title={title} onClick={() => void start()}>
      {children}
    </button>
  );
}

export function Label({ text }: { text: Key }) {
  return <>{t(text)}</>;
}

// ---- icons ----

const ICONS = {
  copy: 'M9 9h10v12H9zM5 15V3h10',
  menu: 'M4 6h16M4 12h16M4 18h16',
  close: 'M6 6l12 12M18 6L6 18',
  live: 'M12 12m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  chevron: 'M9 6l6 6-6 6',
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14M21 21l-5-5',
  download: 'M12 4v12M7 11l5 5 5-5M5 20h14',
  help: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 18v.5',
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  tasks: 'M4 6h16M4 12h16M4 18h10',
  failures: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  suspended: 'M7 5h10v14H7z',
  queues: 'M4 7h16v4H4zM4 14h16v4H4z',
  workers: 'M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8M4 21c1-5 4-7 8-7s7 2 8 7',
  system: 'M5 5h14v10H5zM9 20h6M12 15v5',
  settings: 'M4 8h10M18 8h2M4 16h2M10 16h10M16 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M8 16m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0',
} as const;
export type IconName = keyof typeof ICONS;
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={ICONS[name]} />
    </svg>
  );
}
