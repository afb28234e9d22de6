// Every page, in both themes and both languages: nothing that axe finds wrong, and nothing wider than the screen.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { furnish, openBrowser, openPage, PAGES, Server } from './house.mjs';

const AXE = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const server = new Server();
let browser;
let detail;

before(async () => {
  await server.start();
  detail = await furnish(server);
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server.end();
});

async function violations(page) {
  await page.evaluate(AXE);
  return page.evaluate(async tags => {
    const found = await globalThis.axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return found.violations.map(v => `${v.id}: ${v.help} — ${v.nodes.slice(0, 3).map(n => `${n.target.join(' ')} ${n.any.map(a => a.message).join('; ').slice(0, 160)}`).join(' | ')}`);
  }, TAGS);
}

const everywhere = () => [...PAGES, `tasks/${detail}`, 'queues/images', 'system?tab=audit', 'system?tab=config', 'system?tab=doctor'];

for (const lang of ['en', 'zh']) {
  for (const theme of ['light', 'dark']) {
    test(`axe has nothing to say: ${lang}, ${theme}`, async () => {
      // Our policy allows no foreign script, which axe is.
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true });
      const page = await openPage(context, server);
      for (const where of everywhere()) {
        const sign = where.includes('?') ? '&' : '?';
        await page.goto(`${server.url}/ui/${where}${sign}lang=${lang}&theme=${theme}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('load');
        await page.waitForTimeout(400);
        assert.deepEqual(await violations(page), [], `/ui/${where}`);
        assert.equal(await page.locator('html').getAttribute('lang'), lang === 'zh' ? 'zh-CN' : 'en');
      }
      assert.deepEqual(page.faults, []);
      await context.close();
    });
  }
}

for (const width of [360, 768, 1920]) {
  test(`no page is wider than a screen of ${width}`, async () => {
    for (const lang of ['en', 'zh']) {
      const context = await browser.newContext({ viewport: { width, height: 800 } });
      const page = await openPage(context, server);
      for (const where of everywhere()) {
        const sign = where.includes('?') ? '&' : '?';
        await page.goto(`${server.url}/ui/${where}${sign}lang=${lang}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForTimeout(300);
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(excess <= 0, `/ui/${where} (${lang}) is ${excess} px too wide`);
        // On a phone a table may be moved; on anything larger it fits.
        const cut = await page.evaluate(() => [...document.querySelectorAll('.scroll-x')].filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.ariaLabel));
        assert.deepEqual(width < 760 ? [] : cut, [], `/ui/${where} (${lang})`);
      }
      await context.close();
    }
  });
}
