import { afterEach, expect, test, vi } from 'vitest';

async function opened(search = '') {
  vi.resetModules();
  window.history.replaceState(null, '', `/ui/settings${search}`);
  return import('./settings');
}
afterEach(() => localStorage.clear());

test('what is chosen is kept, shown on the page, and there again after a reload', async () => {
  const first = await opened();
  first.theme.value = 'dark';
  first.lang.value = 'zh';
  first.zone.value = 'Asia/Shanghai';
  first.user.value = '王小明';
  expect(document.documentElement.dataset.theme).toBe('dark');
  expect(document.documentElement.lang).toBe('zh-CN');
  const again = await opened();
  expect([again.theme.value, again.lang.value, again.zone.value, again.user.value]).toEqual(['dark', 'zh', 'Asia/Shanghai', '王小明']);
});

test('the address says otherwise for one page and is not kept', async () => {
  localStorage.setItem('holdfast.theme', 'light');
  expect((await opened('?theme=dark')).theme.value).toBe('dark');
  expect((await opened()).theme.value).toBe('light');
});

test('what is not a choice is not taken', async () => {
  localStorage.setItem('holdfast.density', 'enormous');
  const settings = await opened('?theme=pink');
  expect([settings.density.value, settings.theme.value]).toEqual(['compact', 'system']);
});
