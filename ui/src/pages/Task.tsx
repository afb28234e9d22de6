// One task: why it stands where it stands, what became of every attempt, what it carries, and what can be done.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { At, Broken, clock, Command, CopyButton, Empty, Loading, Page, Section, Since, StateMark, Tabs, Trouble, Until } from '../components/basics';
import { Dialog } from '../components/Dialog';
import { EditDialog } from '../components/EditDialog';
import { JsonView } from '../components/JsonView';
import { Errors, History, Revisions } from '../components/TaskParts';
import { Waterfall } from '../components/Waterfall';
import { actionName, actOnOne, may, resumeName, type Action } from '../lib/acts';
import { get, getText, postText, url } from '../lib/api';
import { quote } from '../lib/filter';
import { percent, shortId } from '../lib/format';
import { t } from '../lib/i18n';
import { members } from '../lib/json';
import { useKeys } from '../lib/keys';
import { held, isReadOnly } from '../lib/may';
import { ask, attempt } from '../lib/notices';
import { useResource } from '../lib/resource';
import { neighbours } from '../lib/seen';
import { counters, onEvent, paused, watch } from '../lib/stream';
import { HELD, type Task as TaskData, type Transition } from '../lib/types';
import { go, href, param, setParams } from '../lib/url';
import { whyText, type Explanation } from '../lib/why';

interface Whole {
  task: TaskData;
  /** As the server wrote it. */
  text: string;
  history: Transition[];
  why: Explanation;
}

async function readTask(id: string, stop: AbortSignal): Promise<Whole> {
  const [text, { history }, why] = await Promise.all([
    getText(`v1/tasks/${id}`, { redact: 1 }, stop),
    get<{ history: Transition[] }>(`v1/tasks/${id}/history`, { redact: 1 }, stop),
    get<Explanation>(`v1/tasks/${id}/explain`, {}, stop),
  ]);
  return { task: JSON.parse(text) as TaskData, text, history, why };
}

const TABS = ['payload', 'result', 'errors', 'history', 'revisions', 'raw'] as const;
type Tab = (typeof TABS)[number];
/** How often a task that somebody works on is read again: heartbeats and progress are no events. */
const WHILE_HELD = 2_000;

export default function Task({ id }: { id: string }) {
  const whole = useResource(`task ${id}`, stop => readTask(id, stop));
  const data = whole.data.value;
  const isHeld = data !== undefined && HELD.includes(data.task.state);
  useEffect(() => {
    const owner = {};
    watch(owner, [id]);
    const off = onEvent(event => {
      if (event.id === id && !paused.peek()) void whole.refresh();
    });
    return () => {
      off();
      watch(owner, []);
    };
  }, [id]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !paused.peek()) void whole.refresh();
    }, isHeld ? WHILE_HELD : 10_000);
    return () => clearInterval(timer);
  }, [id, isHeld]);
  useEffect(() => {
    if (data) document.title = `${data.task.type} ${shortId(id)} · Holdfast`;
  }, [data?.task.type]);

  if (whole.error.value?.status === 404 || whole.error.value?.field === 'id') {
    return (
      <Page title={t('task.title')}>
        <Empty title={t('task.missing', { id })}>
          <p>{t('task.missing_says')}</p>
          <p><a href={href('tasks')}>{t('task.all')}</a></p>
        </Empty>
      </Page>
    );
  }
  if (!data) return <Page title={t('task.title')}>{whole.error.value ? <Trouble error={whole.error.value} retry={() => void whole.refresh()} /> : <Loading />}</Page>;
  return <Shown data={data} error={whole.error.value} refresh={whole.refresh} />;
}

function Shown({ data, error, refresh }: { data: Whole; error: Parameters<typeof Trouble>[0]['error']; refresh(): Promise<void> }) {
  const { task, history, why } = data;
  const id = task.id;
  // What was revealed is kept for this visit only, and only for this version of the task.
  const [shown, setShown] = useState<{ version: number; text: string }>();
  const revealed = shown?.version === task.version ? shown.text : undefined;
  const [sharing, setSharing] = useState(false);
  const near = neighbours(id);
  const parts = useMemo(() => members(revealed ?? data.text), [revealed ?? data.text]);
  const payload = parts.get('payload') ?? 'null';
  const isHidden = task.redacted === true && revealed === undefined;
  const editing = param('edit') !== '' && !isReadOnly() && may('resume', task) && !HELD.includes(task.state);

  const reveal = async (): Promise<void> => {
    const answer = await ask({ title: t('task.reveal_title'), body: t('task.reveal_says'), verb: t('task.reveal'), reason: 'required' });
    if (!answer) return;
    const text = await attempt(() => postText(`v1/tasks/${id}/reveal`, { reason: answer.reason }));
    if (text !== undefined) setShown({ version: task.version, text });
  };
  const act = (action: Action) => {
    if (!isReadOnly() && may(action, task)) void actOnOne(action, task).then(() => refresh());
  };
  const edit = () => {
    if (!isReadOnly() && may('resume', task) && !HELD.includes(task.state)) setParams({ edit: '1' });
  };
  const step = (to: string | undefined) => {
    if (to) go(href(`tasks/${to}`, { tab: param('tab') }), 'replace');
  };
  useKeys([
    { keys: 'r', says: 'keys.retry', run: () => act('resume') },
    { keys: 'u', says: 'keys.resume', run: () => act('resume') },
    { keys: 'e', says: 'keys.edit', run: edit },
    { keys: 'p', says: 'keys.pause', run: () => act('pause') },
    { keys: 'c', says: 'keys.cancel', run: () => act('cancel') },
    { keys: 'd', says: 'keys.discard', run: () => act('discard') },
    { keys: '[', says: 'keys.newer', run: () => step(near.before) },
    { keys: ']', says: 'keys.older', run: () => step(near.after) },
  ]);
  return (
    <Page
      title={<Broken name={task.type} />}
      actions={
        <>
          {near.back !== '' && <a class="button" href={near.back}>{t('task.back')}</a>}
          <button type="button" title={t('task.previous')} disabled={!near.before} onClick={() => step(near.before)}>‹<span class="sr">{t('task.previous')}</span></button>
          <button type="button" title={t('task.next')} disabled={!near.after} onClick={() => step(near.after)}>›<span class="sr">{t('task.next')}</span></button>
          <button type="button" onClick={() => setSharing(true)}>{t('task.copy_as')}</button>
        </>
      }
    >
      <Trouble error={error} retry={() => void refresh()} />
      <Head task={task} says={whyText(why, task, history)} act={act} edit={edit} />
      <Waterfall history={history} state={task.state} />
      <Section>
        <Body data={data} payload={payload} parts={parts} text={revealed ?? data.text} hidden={
          isHidden ? <p class="hidden-note"><span>{t('task.redacted')}</span> <button type="button" class="small" {...held()} onClick={() => void reveal()}>{t('task.reveal')}</button></p>
            : revealed !== undefined ? <p class="hidden-note">{t('task.revealed')}</p> : null
        } />
      </Section>
      <Facts task={task} />
      {sharing && (
        <Dialog title={t('task.copy_as')} onClose={() => setSharing(false)} wide>
          <Command text={`curl -s '${url(`v1/tasks/${id}`)}'`} />
          <Command text={`holdfast get ${id}`} />
          <Command text={window.location.href} />
          <div class="dialog-actions"><button type="button" onClick={() => setSharing(false)}>{t('common.close')}</button></div>
        </Dialog>
      )}
      {editing && (isHidden ? (
        <Dialog title={t('task.edit_title')} onClose={() => setParams({ edit: null }, 'replace')}>
          <p>{t('task.edit_reveal')}</p>
          <div class="dialog-actions">
            <button type="button" onClick={() => setParams({ edit: null }, 'replace')}>{t('common.back')}</button>
            <button type="button" class="main" {...held()} onClick={() => void reveal()}>{t('task.reveal')}</button>
          </div>
        </Dialog>
      ) : (
        <EditDialog id={id} payload={payload} onClose={() => setParams({ edit: null }, 'replace')} onDone={() => {
          setParams({ edit: null }, 'replace');
          setShown(undefined);
          void refresh();
        }} />
      ))}
    </Page>
  );
}

function Head({ task, says, act, edit }: { task: TaskData; says: string; act(action: Action): void; edit(): void }) {
  const isHeld = HELD.includes(task.state);
  const others: readonly Action[] = ['pause', 'cancel', 'discard'];
  return (
    <Section class="task-head">
      <div class="task-line">
        <span class="task-state"><StateMark state={task.state} /></span>
        <span class="id">{task.id}</span><CopyButton text={task.id} />
        <a href={href('tasks', { q: `queue:${task.queue}` })}>{task.queue}</a>
        {task.tenant && <a href={href('tasks', { q: `tenant:${task.tenant}` })}>{task.tenant}</a>}
      </div>
      <p class="task-why" role="status">{says}</p>
      <Live task={task} />
      <div class="row">
        {may('resume', task) && <button type="button" class="main" {...held()} onClick={() => act('resume')}>{resumeName(task.state)}</button>}
        {may('resume', task) && !isHeld && <button type="button" {...held()} onClick={edit}>{t('act.edit')}</button>}
        {others.filter(action => may(action, task)).map(action => (
          <button type="button" class={action === 'pause' ? undefined : 'bad'} {...held()} onClick={() => act(action)}>{actionName(action)}</button>
        ))}
      </div>
    </Section>
  );
}

/** What moves by itself: progress, lease, next attempt. */
function Live({ task }: { task: TaskData }) {
  const isHeld = HELD.includes(task.state);
  const next = task.retry.next_attempt_at;
  const isOver = task.lease_until ? Date.parse(task.lease_until) <= clock.value : false;
  if (!isHeld && !next && !(task.state === 'waiting' && task.run_at)) return null;
  return (
    <dl class="live-facts">
      {isHeld && task.progress !== null && (
        <div class="grow">
          <dt>{t('task.progress')}</dt>
          <dd><progress max={1} value={task.progress} aria-label={t('task.progress')} /> {percent(task.progress)} {task.note}</dd>
        </div>
      )}
      {isHeld && task.worker && <div><dt>{t('filter.worker')}</dt><dd>{task.worker}</dd></div>}
      {isHeld && task.started_at && <div><dt>{t('task.running_for')}</dt><dd><Since at={task.started_at} /></dd></div>}
      {isHeld && task.lease_until && <div><dt>{isOver ? t('task.lease_over') : t('task.lease')}</dt><dd class={isOver ? 'bad-text' : undefined}>{isOver ? <Since at={task.lease_until} /> : <Until at={task.lease_until} />}</dd></div>}
      {!isHeld && next && <div><dt>{t('task.next_at')}</dt><dd><Until at={next} /></dd></div>}
      {task.state === 'waiting' && task.run_at && <div><dt>{t('task.starts_in')}</dt><dd><Until at={task.run_at} /></dd></div>}
    </dl>
  );
}

function Body({ data, payload, parts, text, hidden }: { data: Whole; payload: string; parts: Map<string, string>; text: string; hidden: ComponentChildren }) {
  const { task, history } = data;
  const asked = param('tab') as Tab;
  // Chosen once: a tab does not change by itself while somebody reads.
  const [usual] = useState<Tab>(task.error ? 'errors' : 'payload');
  const tab = TABS.includes(asked) ? asked : usual;
  const errors = history.filter(step => step.error).length;
  const names = { payload: t('task.payload'), result: t('task.result'), errors: t('task.errors'), history: t('task.history'), revisions: t('task.revisions'), raw: t('task.raw') };
  const counts: Partial<Record<Tab, number>> = { errors, history: history.length, revisions: task.revision ?? 0 };
  const group = counters.value?.failures.find(one => one.fingerprint === task.fingerprint);
  const same = group ? Object.values(group.tasks).reduce((sum, n) => sum + n, 0) : 0;
  const result = parts.get('result') ?? 'null';
  return (
    <>
      <Tabs
        label={t('task.tabs')}
        current={tab}
        onChange={to => setParams({ tab: to === usual ? null : to }, 'replace')}
        tabs={TABS.map(one => ({ id: one, text: counts[one] ? `${names[one]} ${counts[one]}` : names[one] }))}
      />
      <div role="tabpanel" aria-labelledby={`tab-${tab}`} class="tab-panel">
        {(tab === 'payload' || tab === 'result' || tab === 'raw') && hidden}
        {tab === 'payload' && <JsonView text={payload} name={`${task.id}-payload.json`} />}
        {tab === 'result' && (result === 'null' ? <Empty title={t('task.no_result')} /> : <JsonView text={result} name={`${task.id}-result.json`} />)}
        {tab === 'errors' && <Errors task={task} history={history} same={same} />}
        {tab === 'history' && <History history={history} />}
        {tab === 'revisions' && <Revisions id={task.id} payload={payload} version={task.version} />}
        {tab === 'raw' && <JsonView text={text} name={`${task.id}.json`} />}
      </div>
    </>
  );
}

function Facts({ task }: { task: TaskData }) {
  const labels = Object.entries(task.labels);
  return (
    <Section title={t('task.facts')}>
      <dl class="facts">
        <div><dt>{t('task.created')}</dt><dd><At at={task.created_at} /></dd></div>
        <div><dt>{t('task.started')}</dt><dd><At at={task.started_at} /></dd></div>
        <div><dt>{t('task.finished')}</dt><dd><At at={task.finished_at} /></dd></div>
        <div><dt>{t('task.updated')}</dt><dd><At at={task.updated_at} /></dd></div>
        {task.deadline && <div><dt>{t('task.deadline')}</dt><dd><At at={task.deadline} /></dd></div>}
        <div><dt>{t('task.attempts')}</dt><dd>{task.attempt}</dd></div>
        <div><dt>{t('task.failures')}</dt><dd>{task.retry.max > 0 ? t('task.of', { n: task.retry.count, max: task.retry.max }) : task.retry.count}</dd></div>
        <div><dt>{t('task.priority')}</dt><dd>{task.priority}</dd></div>
        {labels.length > 0 && <div><dt>{t('task.labels')}</dt><dd>{labels.map(([key, value]) => <a class="label" href={href('tasks', { q: `label.${key}:${quote(value)}` })}>{`${key}=${value}`}</a>)}</dd></div>}
        {task.context?.idempotency_key && <div><dt>{t('task.key')}</dt><dd class="wrap">{task.context.idempotency_key}</dd></div>}
        {task.context?.traceparent && <div><dt>{t('task.trace')}</dt><dd class="wrap"><code>{task.context.traceparent}</code></dd></div>}
      </dl>
    </Section>
  );
}
