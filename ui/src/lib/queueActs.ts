// What one does to a queue: asked where it stops something, told when it is done.
import { post } from './api';
import { t } from './i18n';
import { ask, attempt } from './notices';
import type { Queue } from './types';

const place = (name: string, act: string) => `v1/queues/${encodeURIComponent(name)}/${act}`;
const because = (reason: string) => (reason === '' ? {} : { reason });

export async function pauseQueue(name: string): Promise<Queue | undefined> {
  const said = await ask({ title: t('queue.pause_ask', { queue: name }), body: t('queue.pause_body'), verb: t('queue.pause'), reason: true });
  return said && attempt(() => post<Queue>(place(name, 'pause'), because(said.reason)), () => t('queue.paused_done', { queue: name }));
}

export function resumeQueue(name: string): Promise<Queue | undefined> {
  return attempt(() => post<Queue>(place(name, 'resume')), () => t('queue.resumed_done', { queue: name }));
}

export async function closeQueue(name: string): Promise<Queue | undefined> {
  const said = await ask({ title: t('queue.close_ask', { queue: name }), body: t('queue.close_body'), verb: t('queue.close'), tone: 'bad', reason: true });
  return said && attempt(() => post<Queue>(place(name, 'close'), because(said.reason)), () => t('queue.closed_done', { queue: name }));
}

export function openQueue(name: string): Promise<Queue | undefined> {
  return attempt(() => post<Queue>(place(name, 'open')), () => t('queue.opened_done', { queue: name }));
}

export function togglePause(queue: Pick<Queue, 'name' | 'paused'>): Promise<Queue | undefined> {
  return queue.paused ? resumeQueue(queue.name) : pauseQueue(queue.name);
}
export function toggleClosed(queue: Pick<Queue, 'name' | 'closed'>): Promise<Queue | undefined> {
  return queue.closed ? openQueue(queue.name) : closeQueue(queue.name);
}
