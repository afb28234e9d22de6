// A server of the test's own, a browser in front of it, and workers to play with. HOLDFAST_BIN names the program,
// CHROMIUM the browser. Everything is on loopback, on free ports, and is ended by its pid.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';

const BINARY = resolve(process.env.HOLDFAST_BIN ?? new URL('../../build/release/holdfast', import.meta.url).pathname);
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const PATIENCE = 20_000;
// The program refuses variables of that prefix that it does not know.
const { HOLDFAST_BIN: _, ...ENVIRONMENT } = process.env;

export const pause = ms => new Promise(done => setTimeout(done, ms));

/** Waits until `fact` gives something that is true, and gives it back. */
export async function until(fact, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await fact();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${patience} ms: ${what}`);
    await pause(50);
  }
}

export class Server {
  constructor(command = 'serve', flags = []) {
    this.command = command;
    this.flags = flags;
    this.folder = mkdtempSync(join(tmpdir(), 'holdfast-browser-'));
    this.port = 0;
  }

  async start() {
    const args = [this.command, '--listen', `127.0.0.1:${this.port}`, '--store', `sqlite:${join(this.folder, 'store')}`, ...this.flags];
    this.process = spawn(BINARY, args, { stdio: ['ignore', 'pipe', 'pipe'], env: ENVIRONMENT });
    let said = '';
    this.log = '';
    this.process.stderr.on('data', bytes => (this.log += bytes));
    const listening = new Promise((done, failed) => {
      this.process.stdout.on('data', bytes => {
        said += bytes;
        const found = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said);
        if (found) done(Number(found[1]));
      });
      this.process.once('exit', code => failed(new Error(`the server ended with ${code}: ${this.log}`)));
    });
    this.port = await listening;
    this.process.removeAllListeners('exit');
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async stop(signal = 'SIGTERM') {
    if (!this.process || this.process.exitCode !== null) return;
    const ended = new Promise(done => this.process.once('exit', done));
    this.process.kill(signal);
    await ended;
  }

  async end() {
    await this.stop('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  async get(path) {
    const response = await fetch(this.url + path);
    return response.json();
  }

  async post(path, body = {}) {
    const response = await fetch(this.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** `n` tasks like `task`, in batches; their ids. */
  async submit(n, task) {
    const ids = [];
    for (let at = 0; at < n; at += 1000) {
      const batch = Array.from({ length: Math.min(1000, n - at) }, (_, i) => (typeof task === 'function' ? task(at + i) : task));
      const answer = await this.post('/v1/tasks', batch);
      ids.push(...answer.tasks.map(one => one.id));
    }
    return ids;
  }

  /** Claims up to `max` and gives each to `work`, which says 'complete' or an error. How many there were. */
  async work(queue, max, work) {
    const { tasks } = await this.post('/v1/claim', { queues: [queue], worker: 'test-worker', max, lease: '30s' });
    const fence = task => ({ id: task.id, attempt: task.attempt, epoch: task.epoch });
    const done = [];
    const failed = [];
    for (const task of tasks) {
      const verdict = work(task);
      if (verdict === 'complete') done.push({ ...fence(task), result: { ok: true } });
      else failed.push({ ...fence(task), error: verdict });
    }
    if (done.length > 0) await this.post('/v1/complete', { items: done });
    if (failed.length > 0) await this.post('/v1/fail', { items: failed });
    return tasks.length;
  }

  /** A `holdfast work` of its own process group, so that killing it kills what it runs. */
  worker(queue, command, slots = 1) {
    const child = spawn(BINARY, ['work', '--server', this.url, '--queue', queue, '--slots', String(slots), '--', 'sh', '-c', command], { stdio: 'ignore', detached: true, env: ENVIRONMENT });
    child.murder = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // it is gone already
      }
    };
    return child;
  }
}

export async function openBrowser() {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

/** A page that fails the test when a script fails, or when anything is asked of another origin. */
export async function openPage(context, server) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.faults = [];
  page.on('pageerror', error => page.faults.push(`script: ${error.message}`));
  page.on('console', message => {
    if (message.type() === 'error' && /Content Security Policy/.test(message.text())) page.faults.push(message.text());
  });
  page.on('request', request => {
    const at = request.url();
    if (!at.startsWith(server.url) && !at.startsWith('data:') && !at.startsWith('blob:')) page.faults.push(`asked elsewhere: ${at}`);
  });
  return page;
}

export const PAGES = ['', 'tasks', 'failures', 'suspended', 'queues', 'workers', 'system', 'settings'];

/** Something of everything: what each page has to show. Gives the id of a task with a past. */
export async function furnish(server) {
  const retry = { max: 1 };
  await server.submit(30, n => ({ type: 'image.resize', queue: 'images', tenant: n % 2 ? 'acme' : 'globex', payload: { n, file: `cat-${n}.png` }, labels: { plan: n % 3 ? 'pro' : 'free' }, retry }));
  await server.submit(8, n => ({ type: 'video.render', queue: 'gpu', payload: { scene: n, api_key: 'sk-secret' }, retry: { max: 3 } }));
  await server.submit(2, n => ({ type: 'report.build', queue: 'reports', payload: { n }, delay: '2h' }));
  let n = 0;
  await server.work('images', 24, () => {
    n++;
    if (n % 6 === 0) return { kind: 'permanent', message: `no such file: cat-${n}.png`, code: 'ENOENT', stack: 'Error: no such file\n  at open (worker.js:12:7)\n  at main (worker.js:40:3)' };
    if (n % 7 === 0) return { kind: 'transient', message: `provider answered 503 after ${n}00 ms` };
    return 'complete';
  });
  await server.work('gpu', 5, task => (task.payload.scene % 2 ? { kind: 'transient', message: 'CUDA out of memory: tried to allocate 2.4 GiB' } : 'complete'));
  await server.post('/v1/queues/reports/pause', { reason: 'month-end close' });
  await server.post('/v1/claim', { queues: ['gpu'], worker: 'gpu-3', max: 1, lease: '10m' });
  const { tasks } = await server.get('/v1/tasks?state=suspended&limit=1');
  return tasks[0].id;
}
