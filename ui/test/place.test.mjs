// Looking after the place: the overview, queues, workers, the audit, settings, and the palette.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { furnish, openBrowser, openPage, Server, until } from './house.mjs';

const server = new Server();
let browser;
before(async () => {
  await server.start();
  await furnish(server);
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server.end();
});

/** A page of a context of its own, in English; what it did wrong is looked at when it is closed. */
async function visit(path, where = server, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 }, ...options });
  const page = await openPage(context, where);
  await page.goto(`${where.url}/ui/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  page.leave = async () => {
    assert.deepEqual(page.faults, []);
    await context.close();
  };
  return page;
}

const tile = (page, name) => page.locator('a.tile').filter({ has: page.locator('.tile-label', { hasText: new RegExp(`^${name}$`, 'i') }) });

test('the first start with the demo: numbers move, charts are drawn, and what fails is named', async () => {
  const demo = new Server('dev');
  await demo.start();
  try {
    const page = await visit('', demo);
    const done = tile(page, 'Done').locator('.tile-value');
    await until(async () => Number.parseFloat(await done.innerText()) > 0, 'tasks are done');
    await until(async () => (await tile(page, 'Workers').locator('.tile-value').innerText()) === '1 / 1', 'the worker of the demo is there');
    await page.locator('.chart canvas').first().waitFor();
    assert.equal(await page.locator('.chart canvas').count(), 2);
    // The demo breaks something within its first seconds: no such file.
    const need = page.locator('.need', { hasText: /no such file/ });
    await need.waitFor({ timeout: 40_000 });
    await need.getByRole('link', { name: 'Group' }).click();
    await page.waitForURL(/\/ui\/failures\?open=[0-9a-f]+/);
    await page.leave();
  } finally {
    await demo.end();
  }
});

test('a server without tasks shows the first steps, and each turns green by itself', async () => {
  const fresh = new Server();
  await fresh.start();
  let worker;
  try {
    const page = await visit('', fresh);
    const steps = page.locator('.step');
    await steps.first().waitFor();
    assert.match(await steps.first().innerText(), new RegExp(`holdfast work --server ${fresh.url} --queue hello`));
    assert.equal(await page.locator('.step.done').count(), 0);
    worker = fresh.worker('hello', 'cat');
    await page.locator('.step.done', { hasText: 'Start a worker' }).waitFor();
    await fresh.submit(1, { type: 'hello.world', queue: 'hello', payload: { name: 'you' } });
    await page.locator('.step.done', { hasText: 'Submit a task' }).waitFor();
    await page.locator('.step.done', { hasText: 'See it done' }).waitFor();
    await page.getByRole('button', { name: 'Done, hide this' }).click();
    await until(async () => (await steps.count()) === 0, 'the steps are gone');
    await page.leave();
  } finally {
    worker?.murder();
    await fresh.end();
  }
});

test('every tile leads to the list behind its number', async () => {
  const page = await visit('');
  await tile(page, 'Suspended').waitFor();
  const links = await page.locator('a.tile').evaluateAll(tiles => tiles.map(one => one.getAttribute('href')));
  assert.equal(links.length, 8);
  for (const link of links) {
    await page.goto(server.url + link);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.match(page.url(), /\/ui\/(tasks\?q=|failures|suspended|workers)/);
    await page.waitForTimeout(300);
    assert.equal(await page.locator('.trouble').count(), 0, `${link} is understood by the server`);
  }
  await page.goto(`${server.url}/ui/`);
  const { tasks } = await server.get('/v1/tasks?state=suspended&limit=1000&fields=header');
  assert.ok(tasks.length > 0);
  await tile(page, 'Suspended').locator('.tile-value', { hasText: new RegExp(`^${tasks.length}$`) }).waitFor();
  await page.leave();
});

test('the range of the charts is in the address, and the same numbers are there as a table', async () => {
  const page = await visit('');
  await page.getByRole('button', { name: '1h', exact: true }).click();
  assert.match(page.url(), /range=1h/);
  await page.getByRole('button', { name: 'As a table Tasks by outcome' }).click();
  const rows = page.locator('.chart-table tbody tr');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 120);
  // Twenty of the furnished tasks succeeded, all of them within the hour.
  const column = await page.locator('.chart-table thead th').allInnerTexts();
  const at = column.indexOf('succeeded');
  const sum = await rows.evaluateAll((all, n) => all.reduce((total, row) => total + Number(row.children[n].textContent), 0), at);
  const { tasks } = await server.get('/v1/stats');
  assert.equal(sum, tasks.succeeded);
  await page.reload();
  await rows.first().waitFor();
  assert.equal(await page.getByRole('button', { name: '1h', exact: true }).getAttribute('aria-pressed'), 'true');
  await page.leave();
});

test('a queue is paused with a reason, by its key, and resumed; the audit has who, why and both', async () => {
  const page = await visit('settings');
  await page.getByLabel('Your name').fill('林 Lin');
  await page.getByRole('link', { name: 'Queues' }).first().click();
  const row = page.locator('tr', { has: page.locator('[data-queue="images"]') });
  await row.getByText('open').waitFor();
  await page.locator('[data-queue="images"]').focus();
  await page.keyboard.press('p');
  await page.getByLabel(/Reason/).fill('the disk is full');
  await page.keyboard.press('Enter');
  await row.getByText('the disk is full').waitFor();
  assert.match(await row.innerText(), /paused .* by 林 Lin/);
  assert.equal((await server.get('/v1/queues/images')).paused, true);
  await page.goto(`${server.url}/ui/`);
  const need = page.locator('.need', { hasText: 'the disk is full' });
  await need.getByRole('button', { name: 'Resume images' }).click();
  await until(async () => !(await server.get('/v1/queues/images')).paused, 'the queue goes on');
  await until(async () => (await need.count()) === 0, 'the line is gone');
  await page.goto(`${server.url}/ui/system?tab=audit&target=queue:images`);
  const entries = page.locator('table.audit tbody tr');
  await entries.first().waitFor();
  assert.deepEqual((await entries.allInnerTexts()).map(text => text.replace(/\s+/g, ' ').replace(/^[\d/:, ]+/, '')), ['林 Lin resume queue images –', '林 Lin pause queue images the disk is full']);
  await page.leave();
});

test('limits are set in a dialog, and a queue is closed and opened on its own page', async () => {
  const page = await visit('queues/gpu');
  await page.getByRole('button', { name: 'Limits… gpu' }).click();
  await page.getByLabel(/At once/).fill('3');
  await page.getByLabel(/Per second/).fill('2.5');
  await page.keyboard.press('Enter');
  await page.getByText('of at most 3').waitFor();
  const { concurrency, rate } = await server.get('/v1/queues/gpu');
  assert.deepEqual({ concurrency, rate }, { concurrency: 3, rate: 2.5 });
  await page.getByRole('button', { name: 'Close gpu' }).click();
  await page.getByLabel(/Reason/).fill('moving house');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.getByText('moving house').waitFor();
  await page.getByRole('button', { name: 'Open gpu' }).click();
  await until(async () => !(await server.get('/v1/queues/gpu')).closed, 'the queue is open');
  assert.ok((await page.getByRole('link', { name: 'video.render' }).count()) > 0, 'its types are listed');
  await page.leave();
});

test('a queue that does not exist says so, and is there with its first task', async () => {
  const page = await visit('queues/nosuch');
  await page.getByText('There is no queue nosuch').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Pause nosuch' }).count(), 0, 'nothing can be done to what is not there');
  assert.equal(await page.locator('a.tile').count(), 0);
  await server.submit(1, { type: 'first.one', queue: 'nosuch' });
  await page.getByRole('button', { name: 'Pause nosuch' }).waitFor();
  await tile(page, 'queued').filter({ hasText: '1' }).waitFor();
  await page.goto(`${server.url}/ui/queues/${encodeURIComponent('no such/name')}`);
  await page.getByText('There is no queue no such/name').waitFor();
  await page.getByRole('link', { name: 'All queues' }).click();
  await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
  await page.leave();
});

test('a worker shows its slots, and drains when it is asked to', async () => {
  const worker = server.worker('drained', 'sleep 600', 3);
  try {
    await server.submit(1, { type: 'long', queue: 'drained' });
    const { name } = await until(async () => (await server.get('/v1/workers')).workers.find(one => one.queues.includes('drained') && one.running === 1), 'the worker has a task');
    const page = await visit(`workers?q=${name}`);
    const card = page.locator('.worker', { hasText: name });
    await card.getByRole('img', { name: '1 of 3 slots are in use' }).waitFor();
    const running = card.getByRole('link', { name: '1 running' });
    assert.equal(new URL(await running.getAttribute('href'), server.url).searchParams.get('q'), `worker:${name} state:running,accepted,dispatched`);
    await card.getByRole('button', { name: `Drain ${name}` }).click();
    await page.getByRole('dialog').getByText('finishes the 1 task it has').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await card.getByText('draining').waitFor();
    const { entries } = await server.get(`/v1/audit?action=worker.drain`);
    assert.equal(entries[0].target, `worker:${name}`);
    await page.leave();
  } finally {
    worker.murder();
  }
});

test('language, zone and theme are chosen, show at once, and survive a reload', async () => {
  const page = await visit('settings', server, { timezoneId: 'Europe/Berlin' });
  const zone = page.getByRole('combobox', { name: 'Time zone' });
  await zone.click();
  await zone.pressSequentially('shang');
  await page.keyboard.press('Enter');
  await page.locator('.top .zone', { hasText: 'UTC+8' }).waitFor();
  await page.getByRole('radio', { name: 'Dark' }).check();
  await page.getByRole('radio', { name: '简体中文' }).check();
  await page.getByRole('heading', { level: 1, name: '设置' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '设置' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  assert.equal(await page.getByRole('combobox', { name: '时区' }).inputValue(), 'Asia/Shanghai');
  await page.locator('.top .zone', { hasText: 'UTC+8' }).waitFor();
  await page.leave();
});

test('the palette is worked by keyboard alone: a page, a queue, an id, a filter', async () => {
  const page = await visit('');
  const open = async text => {
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Find and go' });
    await box.waitFor();
    assert.equal(await box.evaluate(element => element === document.activeElement), true, 'the box has the focus');
    await page.keyboard.type(text);
    return box;
  };
  await open('worker');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/ui\/workers$/);
  const box = await open('gpu');
  await page.getByRole('option', { name: /^gpu/, selected: true }).waitFor();
  const chosen = page.locator(`[id="${await box.getAttribute('aria-activedescendant')}"]`);
  assert.equal(await chosen.getAttribute('aria-selected'), 'true');
  assert.match(await chosen.innerText(), /gpu/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/ui\/queues\/gpu$/);
  const [task] = (await server.get('/v1/tasks?limit=1')).tasks;
  await open(task.id);
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/ui/tasks/${task.id}$`));
  await open('state:queued queue:gpu');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/ui\/tasks\?q=state:queued/);
  await open('');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await until(async () => (await page.getByRole('dialog').count()) === 0, 'Escape closes it');
  await page.leave();
});

test('a read-only server shows everything and offers nothing', async () => {
  const shown = new Server('serve', ['--read-only']);
  await shown.start();
  try {
    await shown.submit(3, { type: 'a.b', queue: 'seen' });
    const page = await visit('queues', shown);
    await page.locator('.top .tag', { hasText: 'read-only' }).waitFor();
    const pause = page.getByRole('button', { name: 'Pause seen' });
    await pause.waitFor();
    assert.equal(await pause.isDisabled(), true);
    assert.match(await pause.getAttribute('title'), /read-only/);
    await page.locator('[data-queue="seen"]').focus();
    await page.keyboard.press('p');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.goto(`${shown.url}/ui/system?tab=config&filter=read_only`);
    const option = page.locator('table.config tbody tr');
    await option.first().waitFor();
    assert.match(await option.first().innerText(), /server\.read_only[\s\S]*true[\s\S]*--read-only/);
    await page.leave();
  } finally {
    await shown.end();
  }
});
