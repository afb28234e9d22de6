// What people do with tasks: find what fails and mend it, follow one, clear many away; with the mouse, and without it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, openPage, Server, until } from './house.mjs';

const server = new Server();
let browser;
before(async () => {
  await server.start();
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server.end();
});

/** A page of its own, that is closed and has no faults at the end. */
async function withPage(where, play) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  const page = await openPage(context, server);
  await page.goto(`${server.url}/ui/${where}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await play(page, context);
  assert.deepEqual(page.faults, []);
  await context.close();
}

/** `n` tasks that failed for good with one error, so that they are suspended and one group. */
async function suspend(queue, n, message) {
  await server.submit(n, i => ({ type: 'shop.pay', queue, payload: { i }, retry: { max: 1 } }));
  await server.work(queue, n, () => ({ kind: 'permanent', message, code: 'EPAY', stack: 'Error: pay\n  at charge (pay.js:7:1)' }));
}
const countOf = async (queue, state) => (await server.get(`/v1/tasks?queue=${queue}&state=${state}&limit=1000&fields=header`)).tasks.length;

test('a failing group is found, looked at and resumed, after a dry run', async () => {
  await suspend('payments', 12, 'card 4711 was declined by bank 9');
  await withPage('failures', async page => {
    const group = page.getByRole('row').filter({ hasText: 'was declined by bank' });
    await group.getByRole('button', { expanded: false }).click();
    await page.getByText('at charge (pay.js:7:1)').waitFor();
    assert.match(page.url(), /open=[0-9a-f]+/);
    await group.getByRole('button', { name: 'Resume…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('12 tasks will be resumed.').waitFor();
    assert.equal(await countOf('payments', 'suspended'), 12, 'the dry run changed something');
    await dialog.getByLabel(/Reason/).fill('the bank is back');
    await dialog.getByRole('button', { name: 'Resume 12' }).click();
    await dialog.getByText('12 tasks done.').waitFor();
    assert.equal(await countOf('payments', 'suspended'), 0);
    assert.equal(await countOf('payments', 'queued'), 12);
  });
});

test('with the keyboard alone a failing group is found and resumed', async () => {
  await suspend('keys', 5, 'printer 3 is out of paper');
  await withPage('tasks', async page => {
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { level: 1, name: 'Failures' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('queue:keys');
    await page.keyboard.press('Enter');
    await page.getByText('is out of paper').first().waitFor();
    await until(async () => (await page.locator('tbody tr').count()) === 1, 'only this group is shown');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByText('5 tasks will be resumed.').waitFor();
    await page.getByRole('dialog').getByLabel(/Reason/).focus();
    await page.keyboard.press('Enter');
    await page.getByText('5 tasks done.').waitFor();
    assert.equal(await countOf('keys', 'queued'), 5);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

test('a task is followed from submit to done while its worker is killed', async () => {
  const first = server.worker('follow', 'sleep 60');
  const [id] = await server.submit(1, { type: 'long.job', queue: 'follow', payload: { a: 1 }, lease: '2s' });
  let second;
  try {
    await withPage(`tasks/${id}`, async page => {
      const state = name => page.locator('.task-state .state-' + name).waitFor();
      await state('running');
      await page.getByText(/is running it since/).waitFor();
      await page.getByText('Lease ends in').waitFor();
      first.murder();
      await state('queued');
      second = server.worker('follow', 'sleep 0.2');
      await state('succeeded');
      await page.getByText(/It succeeded at/).waitFor();
      await page.locator('.lane').nth(1).waitFor();
      assert.equal(await page.locator('.lane').count(), 2, 'an attempt for each worker');
      assert.equal(await page.locator('.lane').nth(0).getByText('lease ended').count(), 1);
      await page.getByRole('tab', { name: /History/ }).click();
      assert.match(page.url(), /tab=history/);
      await page.getByRole('cell', { name: 'lease ended', exact: true }).waitFor();
    });
  } finally {
    first.murder();
    second?.murder();
  }
});

test('ten thousand are discarded, after a dry run that says what would happen', async () => {
  await server.submit(10_000, { type: 'old.mail', queue: 'flood' });
  await server.post('/v1/claim', { queues: ['flood'], worker: 'busy', max: 7, lease: '10m' });
  await withPage('tasks?q=queue:flood', async page => {
    await page.getByText('10,000 tasks').waitFor();
    assert.ok((await page.locator('tbody tr').count()) <= 60);
    await page.getByRole('checkbox', { name: 'Select the rows read so far' }).click();
    await page.getByRole('button', { name: 'Select all 10,000 that match' }).click();
    await page.getByRole('button', { name: 'Discard…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('9,993 tasks will be discarded, for good.').waitFor();
    await dialog.getByText('7 × the task is running').waitFor();
    const go = dialog.getByRole('button', { name: 'Discard 9,993' });
    assert.equal(await go.isDisabled(), true, 'the number must be typed first');
    await dialog.getByLabel('Type 9993 to confirm').fill('9993');
    await go.click();
    await dialog.getByText('9,993 tasks done.').waitFor({ timeout: 60_000 });
    await dialog.getByText('7 were refused:').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
  });
  const { facets } = await server.get('/v1/tasks/facets?q=queue:flood');
  const counts = Object.fromEntries(facets.state.map(one => [one.value, one.count]));
  assert.deepEqual([counts.discarded, counts.running], [9_993, 7]);
});

test('a reload, and a colleague with the link, see the same', async () => {
  await server.submit(30, i => ({ type: i % 2 ? 'a.odd' : 'a.even', queue: 'links', tenant: 'acme' }));
  await withPage('tasks', async (page, context) => {
    await page.getByRole('combobox').fill('queue:links');
    await page.keyboard.press('Enter');
    await page.getByText('30 tasks').waitFor();
    await page.locator('.facet').filter({ hasText: 'a.odd' }).click();
    await page.getByText('15 tasks').waitFor();
    assert.match(decodeURIComponent(page.url()), /q=queue:links type:a\.odd|q=queue:links\+type:a\.odd/);
    await page.reload();
    await page.getByText('15 tasks').waitFor();
    assert.equal(await page.getByRole('combobox').inputValue(), 'queue:links type:a.odd');
    const other = await openPage(context, server);
    await other.goto(page.url());
    await other.getByText('15 tasks').waitFor();
    await page.goBack();
    await page.getByText('30 tasks').waitFor();
  });
});

test('rows change where they stand, and new ones wait behind a button', async () => {
  const ids = await server.submit(3, { type: 'live.row', queue: 'live' });
  await withPage('tasks?q=queue:live', async page => {
    await page.locator('.live-live').waitFor();
    await page.getByText('3 tasks').waitFor();
    const order = () => page.locator('tbody tr a.id').evaluateAll(links => links.map(link => link.title));
    const before = await order();
    await server.post(`/v1/tasks/${ids[1]}/cancel`);
    await page.getByRole('row').filter({ hasText: 'cancelled' }).waitFor();
    await server.submit(2, { type: 'live.row', queue: 'live' });
    await page.getByRole('button', { name: '2 new' }).waitFor();
    assert.deepEqual(await order(), before, 'rows moved under the hand');
    await page.getByRole('button', { name: '2 new' }).click();
    await page.getByText('5 tasks').waitFor();
    await until(async () => (await order()).length === 5, 'the new ones are in the list');
  });
});

test('what the filter gets wrong is pointed at, and what finds nothing says which clause to drop', async () => {
  await server.submit(4, { type: 'find.me', queue: 'hay' });
  await withPage('tasks?q=queue:hay+kind:x', async page => {
    const mistake = page.locator('.filter-mistake');
    await mistake.waitFor();
    assert.equal(await mistake.locator('mark').textContent(), 'kind');
    await page.getByRole('combobox').fill('queue:hay type:needle');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Without type:needle: 4' }).click();
    await page.getByText('4 tasks').waitFor();
    await page.getByRole('combobox').fill('queue:hay age:<5x');
    await page.keyboard.press('Enter');
    await mistake.waitFor();
    assert.equal(await page.locator('tbody tr').count(), 0, 'what was found before is no answer');
  });
});

test('where there is nothing to narrow down, the counts take no room', async () => {
  await server.submit(2, { type: 'find.me', queue: 'hay' });
  await withPage('tasks?q=label.colour:none', async page => {
    await page.getByText('Nothing matches').waitFor();
    await page.locator('.facet-box').waitFor({ state: 'detached' });
    const [list, bar] = await Promise.all(['.list-main', '.filter'].map(part => page.locator(part).boundingBox()));
    assert.equal(list.width, bar.width, 'the list has all the room');
    await page.getByRole('combobox').fill('queue:hay type:needle');
    await page.keyboard.press('Enter');
    await page.locator('.facet').filter({ hasText: 'find.me' }).waitFor();
  });
});

test('the reasons of suspended tasks are asked for ahead, and their place is marked until they come', async () => {
  await suspend('late', 2, 'the lens of camera 2 is dirty');
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  const page = await openPage(context, server);
  let ask;
  let letGo;
  const isAsked = new Promise(done => (ask = done));
  const isLetGo = new Promise(done => (letGo = done));
  let asked = 0;
  await page.route(/\/v1\/failures\?limit=200$/, async route => {
    asked++;
    ask();
    await isLetGo;
    await route.continue();
  });
  // The page's own script does not come before its reasons were asked for.
  await page.route(/\/Suspended-[^/]*\.js$/, async route => {
    await isAsked;
    await route.continue();
  });
  await page.goto(`${server.url}/ui/suspended?q=queue:late`);
  const reasons = page.locator('tbody .c-reason');
  await reasons.locator('.soon').first().waitFor();
  assert.equal(await reasons.locator('.soon').count(), 2);
  letGo();
  await reasons.getByRole('link', { name: 'the lens of camera' }).first().waitFor();
  assert.equal(await reasons.locator('.soon').count(), 0);
  assert.equal(asked, 1, 'the page took the answer that was asked for ahead');
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('a reason that cannot be read leads to the task that knows it', async () => {
  await suspend('unsaid', 1, 'the tape is torn');
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  const page = await openPage(context, server);
  await page.route(/\/v1\/failures\?limit=200$/, route => route.fulfill({ json: { groups: [], total: 0, exact: true, scanned: 0 } }));
  await page.goto(`${server.url}/ui/suspended?q=queue:unsaid`);
  await page.getByRole('link', { name: 'see its errors' }).click();
  await page.locator('.error-message').filter({ hasText: 'the tape is torn' }).waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('a suspended task is resumed with another payload, and the old one stays readable', async () => {
  await suspend('edits', 1, 'the width must be positive');
  const { tasks } = await server.get('/v1/tasks?queue=edits&state=suspended');
  await withPage('suspended?q=queue:edits', async page => {
    await page.getByRole('link', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Payload' }).fill('{\n  "i": 0,\n  "width" 5\n}');
    await dialog.getByText('Line 3, column 11').waitFor();
    await dialog.getByRole('textbox', { name: 'Payload' }).fill('{\n  "i": 12345678901234567890\n}');
    await dialog.locator('.d-new').waitFor();
    await dialog.getByRole('button', { name: 'Resume with this payload' }).click();
    await page.locator('.task-state .state-queued').waitFor();
    await page.getByRole('tab', { name: /Payload/ }).click();
    await page.getByText('12345678901234567890').waitFor();
    await page.getByRole('tab', { name: /Revisions/ }).click();
    await page.getByText('What replaced it').waitFor();
  });
  const text = await (await fetch(`${server.url}/v1/tasks/${tasks[0].id}`)).text();
  assert.match(text, /"i":\s*12345678901234567890/, 'a number lost its digits');
});

test('a task that does not exist says so', async () => {
  await withPage('tasks/01a1e48a-5c1c-705e-91e9-cb6609b2cc59', async page => {
    await page.getByText('There is no task 01a1e48a').waitFor();
    await page.getByRole('link', { name: 'All tasks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  });
  await withPage('tasks/not-an-id', async page => {
    await page.getByText('There is no task not-an-id').waitFor();
  });
});

test('a secret is hidden, is shown for a reason only, and is not overwritten by an edit', async () => {
  const [id] = await server.submit(1, { type: 'call.api', queue: 'secrets', payload: { url: 'x', api_key: 'sk-12345' }, delay: '1h' });
  await withPage(`tasks/${id}`, async page => {
    await page.getByText('"[redacted]"').waitFor();
    assert.equal(await page.getByText('sk-12345').count(), 0);
    await page.getByRole('button', { name: 'Edit and resume' }).click();
    await page.getByText('Reveal it first').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal…' }).click();
    const asked = page.getByRole('dialog', { name: 'Show what is hidden?' });
    assert.equal(await asked.getByRole('button', { name: 'Reveal…' }).isDisabled(), true, 'a reason is needed');
    await asked.getByLabel(/Reason/).fill('the key may be wrong');
    await asked.getByRole('button', { name: 'Reveal…' }).click();
    const payload = page.getByRole('textbox', { name: 'Payload' });
    await payload.waitFor();
    assert.match(await payload.inputValue(), /sk-12345/);
    await page.reload();
    await page.getByText('Reveal it first').waitFor();
    assert.equal(await page.getByText('sk-12345').count(), 0, 'it is hidden again');
  });
  const { entries } = await server.get('/v1/audit?action=task.reveal');
  assert.equal(entries[0].reason, 'the key may be wrong');
});

test('a read-only server offers no act, and says why', async () => {
  const still = new Server('serve', ['--read-only']);
  await still.start();
  try {
    const [id] = await still.submit(1, { type: 'a.b', queue: 'q', delay: '1h' });
    const context = await browser.newContext({ locale: 'en-US' });
    const page = await openPage(context, still);
    await page.goto(`${still.url}/ui/tasks/${id}`);
    const button = page.getByRole('button', { name: 'Run now' });
    await until(async () => (await button.count()) === 1 && (await button.isDisabled()), 'the button is disabled');
    assert.match(await button.getAttribute('title'), /read-only/);
    await page.goto(`${still.url}/ui/tasks`);
    await page.getByRole('checkbox', { name: `Select ${id}` }).click();
    assert.equal(await page.getByRole('button', { name: 'Discard…' }).isDisabled(), true);
    assert.deepEqual(page.faults, []);
    await context.close();
  } finally {
    await still.end();
  }
});

test('from a task one goes to its neighbours, and back to its row', async () => {
  await server.submit(40, n => ({ type: `row.n${n}`, queue: 'walk' }));
  await withPage('tasks?q=queue:walk', async page => {
    await page.getByText('40 tasks').waitFor();
    for (let n = 0; n < 30; n++) await page.keyboard.press('j');
    const row = page.locator('tr.current');
    const opened = await row.locator('a.id').getAttribute('title');
    await page.keyboard.press('Enter');
    await page.getByText(opened).first().waitFor();
    await page.keyboard.press(']');
    await until(() => !page.url().includes(opened), 'the next task');
    const next = page.url().split('/').at(-1);
    await page.locator('.task-line').getByText(next).waitFor();
    await page.goBack();
    await until(async () => (await row.locator('a.id').getAttribute('title').catch(() => '')) === next, 'the row of the task that was looked at last');
    await until(() => row.evaluate(tr => tr === document.activeElement), 'the row has the focus');
  });
});

test('a list that is left while it still scrolls is left quietly', async () => {
  await server.submit(60, { type: 'scroll.away', queue: 'scrolls' });
  await withPage('tasks?q=queue:scrolls', async page => {
    await page.getByText('60 tasks').waitFor();
    await page.evaluate(() => {
      document.querySelector('.vtable').scrollTop = 300;
      document.querySelector('tbody a.id').click();
    });
    await page.getByRole('heading', { level: 1, name: 'scroll.away' }).waitFor();
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  });
});

test('one click opens a row, and one on its link remembers the list too', async () => {
  await server.submit(5, { type: 'click.me', queue: 'clicks' });
  await withPage('tasks?q=queue:clicks', async page => {
    const row = page.locator('tbody tr[data-at="2"]');
    await row.locator('td').nth(2).click();
    await page.waitForURL(/ui\/tasks\/[0-9a-f-]{36}/);
    await page.goBack();
    await page.locator('tbody tr[data-at="3"] a.id').click();
    await page.waitForURL(/ui\/tasks\/[0-9a-f-]{36}/);
    await page.getByRole('heading', { level: 1, name: 'click.me' }).waitFor();
    assert.equal(await page.locator('.page-head button').first().isEnabled(), true, 'its neighbours are known');
  });
});

test('on a small screen nothing lies over the buttons of the list', async () => {
  await server.submit(5, { type: 'small.screen', queue: 'small' });
  for (const width of [360, 800, 1000]) {
    await withPage('tasks?q=queue:small', async page => {
      await page.setViewportSize({ width, height: 800 });
      await page.getByText('5 tasks').waitFor();
      await page.getByRole('button', { name: 'Copy as…' }).click({ timeout: 3_000 });
      await page.getByRole('dialog').waitFor();
    });
  }
});
