// The dashboard's figures, measured on the real program in a real browser:
//
//     node ui/tools/figures.mjs [TASKS]     1 000 000 stored tasks unless said
//
// Figures of a busy machine say little: run it alone.
import { readFileSync } from 'node:fs';
import { openBrowser, pause, Server, until } from '../test/house.mjs';

const TASKS = Number(process.argv[2] ?? 1_000_000);
const FINISHED = 0.7;
const THROTTLE = 4;
const ROUNDS = 9;

const median = list => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const quantile = (list, share) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const say = (name, value, asked) => console.log(`${name.padEnd(52)} ${String(value).padStart(12)}   ${asked}`);

/** Seconds of CPU that the process has used. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function fill(server) {
  const queues = ['images', 'video', 'mail', 'reports', 'ingest'];
  const make = n => ({ type: `${queues[n % 5]}.${n % 3 ? 'make' : 'check'}`, queue: queues[n % 5], tenant: `tenant-${n % 50}`, payload: { n, file: `object-${n}.bin` } });
  const batches = [];
  for (let at = 0; at < TASKS; at += 8_000) {
    batches.length = 0;
    for (let part = 0; part < 8; part++) {
      const from = at + part * 1_000;
      if (from < TASKS) batches.push(server.submit(1_000, i => make(from + i)));
    }
    await Promise.all(batches);
  }
  let done = 0;
  while (done < TASKS * FINISHED) {
    const counts = await Promise.all(queues.map(queue => server.work(queue, 1_000, () => 'complete')));
    done += counts.reduce((a, b) => a + b, 0);
  }
}

async function listAnswers(server) {
  const asks = ['', 'state:queued', 'state:succeeded', 'state:queued,succeeded queue:video', 'queue:mail', 'type:images.make', 'tenant:tenant-7', 'tenant:tenant-7 state:queued', 'age:<1h state:succeeded', 'queue:ingest -state:succeeded'];
  const took = [];
  for (const q of asks) {
    let cursor = '';
    for (let page = 0; page < 10; page++) {
      const start = performance.now();
      const answer = await server.get(`/v1/tasks?fields=header&limit=100&q=${encodeURIComponent(q)}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      took.push(performance.now() - start);
      if (!answer.next_cursor) break;
      cursor = answer.next_cursor;
    }
  }
  say(`list and filter answers, p50 of ${took.length}`, `${quantile(took, 0.5).toFixed(1)} ms`, '');
  say('list and filter answers, p95', `${quantile(took, 0.95).toFixed(1)} ms`, '≤ 60 ms');
  const facets = [];
  for (const q of asks) {
    const start = performance.now();
    await server.get(`/v1/tasks/facets?q=${encodeURIComponent(q)}`);
    facets.push(performance.now() - start);
  }
  say('facets, slowest', `${Math.max(...facets).toFixed(1)} ms`, '');
}

async function interactive(browser, server, where, ready) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: THROTTLE });
    await page.goto(server.url + where, { waitUntil: 'commit' });
    times.push(await page.evaluate(selector => new Promise(done => {
      const look = () => (document.querySelector(selector) ? setTimeout(() => done(performance.now())) : requestAnimationFrame(look));
      look();
    }), ready));
    await context.close();
  }
  say(`${where}: usable at ${THROTTLE}× CPU throttle, median of ${ROUNDS}, slowest ${Math.round(Math.max(...times))}`, `${Math.round(median(times))} ms`, '≤ 1000 ms');
}

async function scroll(browser, server) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(`${server.url}/ui/tasks?q=state:queued`);
  await page.locator('tbody tr td').first().waitFor();
  await pause(1_000);
  await session.send('Emulation.setCPUThrottlingRate', { rate: THROTTLE });
  await page.evaluate(() => {
    globalThis.frames_ = 0;
    globalThis.rows_ = 0;
    const count = () => {
      globalThis.frames_++;
      globalThis.rows_ = Math.max(globalThis.rows_, document.querySelectorAll('tbody tr').length);
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  const metric = async () => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map(m => [m.name, m.value]));
  const before = await metric();
  const framesBefore = await page.evaluate(() => globalThis.frames_);
  await page.mouse.move(700, 500);
  for (let i = 0; i < 150; i++) {
    await page.mouse.wheel(0, 400);
    await pause(16);
  }
  const after = await metric();
  const frames = (await page.evaluate(() => globalThis.frames_)) - framesBefore;
  say(`scrolling at ${THROTTLE}× throttle: script per frame (${frames} frames)`, `${(((after.ScriptDuration - before.ScriptDuration) * 1000) / frames).toFixed(1)} ms`, '≤ 10 ms');
  say('rows in the document, at most', await page.evaluate(() => globalThis.rows_), '≤ 60');
  say('heap', `${(after.JSHeapUsedSize / 2 ** 20).toFixed(1)} MB`, '≤ 40 MB');
  await context.close();
}

/** The server's CPU at 1 000 tasks/s, without and with open dashboards. */
async function cost(browser, server) {
  let going = true;
  const load = (async () => {
    let next = performance.now();
    while (going) {
      const submitted = server.submit(100, { type: 'load.x', queue: 'load', payload: { a: 1 } });
      await submitted;
      await server.work('load', 100, () => 'complete');
      next += 100;
      await pause(Math.max(0, next - performance.now()));
    }
  })();
  const measure = async () => {
    await pause(1_500);
    const cpu = cpuOf(server.process.pid);
    const start = performance.now();
    await pause(8_000);
    return (cpuOf(server.process.pid) - cpu) / ((performance.now() - start) / 1_000);
  };
  const alone = await measure();
  const contexts = [];
  for (let i = 0; i < 3; i++) {
    const context = await browser.newContext();
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${server.url}/ui/${['', 'tasks', 'queues'][i]}`);
  }
  const watched = await measure();
  const again = await (async () => {
    for (const context of contexts) await context.close();
    return measure();
  })();
  going = false;
  await load;
  const base = (alone + again) / 2;
  say('server CPU at 1 000 tasks/s, nobody looking', `${(base * 100).toFixed(1)} %`, '');
  say('per open dashboard (of three: overview, tasks, queues)', `${(((watched - base) / 3) * 100).toFixed(2)} %`, '≤ 2 %');
}

const server = new Server('serve', ['--log-level', 'error']);
await server.start();
let browser;
try {
  const start = performance.now();
  await fill(server);
  say(`${TASKS.toLocaleString('en')} tasks stored, ${FINISHED * 100} % of them finished`, `${Math.round((performance.now() - start) / 1000)} s`, '');
  await until(async () => (await server.get('/readyz')).status === 'ready', 'the server is ready');
  await listAnswers(server);
  browser = await openBrowser();
  await interactive(browser, server, '/', 'main h1');
  await interactive(browser, server, '/ui/tasks', 'tbody tr td');
  await scroll(browser, server);
  await cost(browser, server);
} finally {
  await browser?.close();
  await server.end();
}
