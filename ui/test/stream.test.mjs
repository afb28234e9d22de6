// The page stays alive by itself: over a restart of the server, with several tabs, and in what was chosen.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, openPage, Server, until } from './house.mjs';

const server = new Server();
let browser;
before(async () => {
  await server.start();
  await server.submit(5, { type: 'a.b', queue: 'q' });
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server.end();
});

const live = page => page.locator('.live-live').waitFor();

test('two tabs share one stream, and the second goes on when the first is closed', async () => {
  const context = await browser.newContext();
  let streams = 0;
  const count = page => page.on('request', request => (streams += request.url().includes('/v1/events') ? 1 : 0));
  const first = await openPage(context, server);
  count(first);
  await first.goto(`${server.url}/ui/queues`);
  await live(first);
  const second = await openPage(context, server);
  let ofSecond = 0;
  second.on('request', request => (ofSecond += request.url().includes('/v1/events') ? 1 : 0));
  await second.goto(`${server.url}/ui/queues`);
  await live(second);
  assert.equal(ofSecond, 0, 'the second tab opened a stream of its own');
  assert.ok(streams >= 1);
  await first.close();
  await until(() => ofSecond === 1, 'the second tab takes the stream over');
  await server.submit(1, { type: 'a.b', queue: 'taken-over' });
  await second.getByText('taken-over').first().waitFor();
  assert.deepEqual(second.faults, []);
  await context.close();
});

test('when the server is restarted the page recovers by itself', async () => {
  const context = await browser.newContext();
  const page = await openPage(context, server);
  await page.goto(`${server.url}/ui/queues`);
  await live(page);
  await server.stop('SIGKILL');
  await page.locator('.live-stale').waitFor();
  await server.start();
  await live(page);
  await server.submit(1, { type: 'a.b', queue: 'after-restart' });
  await page.getByText('after-restart').first().waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('language and theme are switched, kept, and survive a reload', async () => {
  const context = await browser.newContext({ locale: 'en-US' });
  const page = await openPage(context, server);
  await page.goto(`${server.url}/ui/tasks?q=state:queued`);
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  await page.getByRole('button', { name: '中文' }).click();
  await page.getByRole('heading', { level: 1, name: '任务' }).waitFor();
  await page.getByTitle('切换主题').click();
  await page.getByTitle('切换主题').click();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '任务' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN');
  assert.match(page.url(), /q=state:queued/);
  assert.equal(await page.getByRole('combobox').first().inputValue(), 'state:queued');
  assert.deepEqual(page.faults, []);
  await context.close();
});
