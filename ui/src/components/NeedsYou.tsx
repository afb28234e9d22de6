// What needs a person, each with what can be done about it.
import type { ComponentChildren } from 'preact';
import { quote } from '../lib/filter';
import { number } from '../lib/format';
import { t, word } from '../lib/i18n';
import { held } from '../lib/may';
import type { Need } from '../lib/needs';
import { openQueue, resumeQueue } from '../lib/queueActs';
import { FINAL } from '../lib/types';
import { href } from '../lib/url';
import { Act, Section, Since } from './basics';
import { QueueState } from './QueueParts';

type Tone = 'bad' | 'warn' | 'wait';
const SHAPES: Readonly<Record<Tone, string>> = { bad: '▲', warn: '◆', wait: '‖' };

function Line({ tone, act, children }: { tone: Tone; act: ComponentChildren; children: ComponentChildren }) {
  return (
    <li class={`need need-${tone}`}>
      <span class="need-shape" aria-hidden="true">{SHAPES[tone]}</span>
      <span class="need-text">{children}</span>
      <span class="need-act">{act}</span>
    </li>
  );
}

const queuePage = (name: string) => href(`queues/${encodeURIComponent(name)}`);

function lineOf(need: Need, after: () => unknown) {
  switch (need.is) {
    case 'problem':
      return (
        <Line tone="bad" act={<a class="button" href={href('system', { tab: need.doctor ? 'doctor' : undefined })}>{t('need.look')}</a>}>
          <b>{t('need.problem')}</b> {need.text}
        </Line>
      );
    case 'group':
      return (
        <Line tone="bad" act={<a class="button" href={href('failures', { open: need.group.fingerprint })}>{t('need.group_open')}</a>}>
          <b><a href={href('tasks', { q: `group:${need.group.fingerprint} -state:${FINAL.join()}` })}>{t('need.group', { n: need.group.open })}</a></b>{' '}
          <span class="need-message">{need.group.message || need.group.sample}</span>{' '}
          <span class="muted">{need.group.type} · {word('kind', need.group.kind)}{need.group.first_seen && <> · {t('need.since')} <Since at={need.group.first_seen} /></>}</span>
        </Line>
      );
    case 'groups':
      return <Line tone="bad" act={<a class="button" href={href('failures')}>{t('need.groups_open')}</a>}>{t('need.groups', { n: need.more })}</Line>;
    case 'no_worker':
      return (
        <Line tone="warn" act={<a class="button" href={href('workers', { queue: need.queue })}>{t('need.how')}</a>}>
          <b>{t('need.no_worker', { queue: need.queue })}</b> <a href={href('tasks', { q: `queue:${quote(need.queue)} state:queued` })}>{t('need.waiting', { n: need.waiting })}</a>
          {need.since && <span class="muted nowrap"> · {t('queues.oldest')} <Since at={need.since} /></span>}
        </Line>
      );
    case 'silent':
      return (
        <Line tone="warn" act={<a class="button" href={href('workers', { q: need.worker })}>{t('need.look')}</a>}>
          <b>{t('need.silent', { worker: need.worker })}</b> <Since at={need.since} />
          {need.running > 0 && <span class="muted"> · {t('need.silent_running', { n: number(need.running) })}</span>}
        </Line>
      );
    case 'paused':
      return (
        <Line tone="wait" act={<Act run={async () => { await resumeQueue(need.queue.name); after(); }} {...held()}>{t('queue.resume')}<span class="sr"> {need.queue.name}</span></Act>}>
          <b><a href={queuePage(need.queue.name)}>{need.queue.name}</a></b> <QueueState queue={{ ...need.queue, closed: false }} />
          {need.queue.tasks.queued > 0 && <span class="muted nowrap"> · {t('need.waiting', { n: need.queue.tasks.queued })}</span>}
        </Line>
      );
    case 'closed':
      return (
        <Line tone="wait" act={<Act run={async () => { await openQueue(need.queue.name); after(); }} {...held()}>{t('queue.open')}<span class="sr"> {need.queue.name}</span></Act>}>
          <b><a href={queuePage(need.queue.name)}>{need.queue.name}</a></b> <QueueState queue={{ ...need.queue, paused: false }} />
        </Line>
      );
  }
}

/** Lines stay the same elements while their numbers move. */
function keyOf(need: Need): string {
  switch (need.is) {
    case 'problem': return `problem ${need.text}`;
    case 'group': return `group ${need.group.fingerprint}`;
    case 'groups': return 'groups';
    case 'no_worker': return `no_worker ${need.queue}`;
    case 'silent': return `silent ${need.worker} ${need.since}`;
    default: return `${need.is} ${need.queue.name}`;
  }
}

function Keyed({ need, after }: { need: Need; after(): unknown }) {
  return lineOf(need, after);
}

export function NeedsYou({ list, after }: { list: readonly Need[] | undefined; after(): unknown }) {
  const title = list && list.length > 0 ? t('need.title_n', { n: list.length }) : t('need.title');
  return (
    <Section title={title} class="needs">
      <span class="sr" role="status">{list && title}</span>
      {!list ? <p class="muted">{t('common.loading')}</p>
        : list.length === 0 ? <p><span class="ok-text" aria-hidden="true">✓ </span>{t('need.nothing')}</p>
        : <ul>{list.map(need => <Keyed key={keyOf(need)} need={need} after={after} />)}</ul>}
    </Section>
  );
}
