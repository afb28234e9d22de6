// Pictures of the dashboard.
//
//     node ui/tools/shots.mjs [FOLDER]     every page: light, dark, Chinese, on a phone; into ui/shots, which is ignored
//     node ui/tools/shots.mjs --readme     the two of README.md, into docs/images
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { furnish, openBrowser, PAGES, pause, Server, until } from '../test/house.mjs';

const here = path => new URL(path, import.meta.url).pathname;

async function shoot(browser, server, { view, file, lang, theme, width, height = 800 }) {
  const context = await browser.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  await page.goto(`${server.url}/ui/${view}${view.includes('?') ? '&' : '?'}lang=${lang}&theme=${theme}`);
  await pause(1_500);
  await page.screenshot({ path: file });
  await context.close();
}

function everyPage(detail, folder) {
  const views = [...PAGES, `tasks/${detail}`, 'queues/images', 'system?tab=audit', 'system?tab=config'];
  const looks = [
    { look: 'light', lang: 'en', theme: 'light', width: 1280 },
    { look: 'dark', lang: 'en', theme: 'dark', width: 1280 },
    { look: 'zh', lang: 'zh', theme: 'light', width: 1280 },
    { look: 'phone', lang: 'zh', theme: 'dark', width: 360 },
  ];
  const name = view => (view === '' ? 'overview' : view.replace(detail, 'one').replace(/[/?=]/g, '-'));
  return looks.flatMap(({ look, ...how }) => views.map(view => ({ view, file: join(folder, `${name(view)}.${look}.png`), ...how })));
}

/** A task that failed twice and waits for its third attempt. */
async function unlucky(server) {
  const [id] = await server.submit(1, { type: 'video.render', queue: 'studio', tenant: 'acme', payload: { scene: 7, quality: 'high' }, retry: { max: 4, policy: { schedule: ['3s', '20m'], jitter: 0 } } });
  const fail = () => server.work('studio', 1, () => ({ kind: 'transient', code: 'E429', message: 'the provider answered 429: too many requests', stack: 'ProviderError: 429\n  at render (studio.js:88:11)' }));
  await until(fail, 'the first attempt');
  await until(fail, 'the second attempt');
  return id;
}

async function forReadme(server) {
  const id = await unlucky(server);
  await pause(75_000); // charts want something to show
  const folder = here('../../docs/images');
  mkdirSync(folder, { recursive: true });
  return [
    { view: '', file: join(folder, 'overview.png'), lang: 'en', theme: 'light', width: 1280, height: 1010 },
    { view: `tasks/${id}?tab=errors`, file: join(folder, 'task.png'), lang: 'en', theme: 'dark', width: 1280, height: 640 },
  ];
}

const server = new Server('dev');
await server.start();
const browser = await openBrowser();
try {
  const detail = await furnish(server);
  await pause(12_000); // the demo has something to show by then
  const folder = process.argv[2] ?? here('../shots');
  if (folder !== '--readme') mkdirSync(folder, { recursive: true });
  for (const shot of folder === '--readme' ? await forReadme(server) : everyPage(detail, folder)) await shoot(browser, server, shot);
} finally {
  await browser.close();
  await server.end();
}
