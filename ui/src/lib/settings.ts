// What a person chose, kept in this browser. The address may say otherwise for one page (?lang=zh&theme=dark).
import { effect, signal, type Signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'compact' | 'cosy';
export type Lang = 'en' | 'zh';

function kept<T extends string>(name: string, usual: T, allowed?: readonly T[]): Signal<T> {
  const fits = (value: string | null): value is T => value !== null && (!allowed || (allowed as readonly string[]).includes(value));
  const asked = new URLSearchParams(window.location.search).get(name);
  let saved: string | null = null;
  try {
    saved = localStorage.getItem(`holdfast.${name}`);
  } catch {
    // A browser that keeps nothing still shows the page.
  }
  const value = signal<T>(fits(asked) ? asked : fits(saved) ? saved : usual);
  let first = true;
  effect(() => {
    const now = value.value;
    if (first) {
      first = false;
      return;
    }
    try {
      localStorage.setItem(`holdfast.${name}`, now);
    } catch {
      // see above
    }
  });
  // Another tab of this browser chose something else.
  window.addEventListener('storage', event => {
    if (event.key === `holdfast.${name}` && fits(event.newValue)) value.value = event.newValue;
  });
  return value;
}

function usualLang(): Lang {
  return navigator.languages.some(name => name.startsWith('zh')) && !navigator.languages[0]?.startsWith('en') ? 'zh' : 'en';
}

export const lang = kept<Lang>('lang', usualLang(), ['en', 'zh']);
export const theme = kept<Theme>('theme', 'system', ['system', 'light', 'dark']);
export const density = kept<Density>('density', 'compact', ['compact', 'cosy']);
/** 'local', 'UTC' or a name like Asia/Shanghai. */
export const zone = kept<string>('zone', 'local');
export const shortcuts = kept<'on' | 'off'>('shortcuts', 'on', ['on', 'off']);
/** Who acts, for the audit. */
export const user = kept<string>('user', '');

effect(() => {
  const root = document.documentElement;
  if (theme.value === 'system') root.removeAttribute('data-theme');
  else root.dataset.theme = theme.value;
  root.dataset.density = density.value;
  root.lang = lang.value === 'zh' ? 'zh-CN' : 'en';
});
