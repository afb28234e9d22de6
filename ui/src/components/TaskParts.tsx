// The parts of a task's page behind its tabs.
import { getText } from '../lib/api';
import { t, word } from '../lib/i18n';
import { elements, members, pretty } from '../lib/json';
import { useResource } from '../lib/resource';
import type { Task, TaskError, Transition } from '../lib/types';
import { href } from '../lib/url';
import { At, Empty, Loading, StateMark, Trouble } from './basics';
import { Diff, JsonView } from './JsonView';

export function ErrorBox({ error }: { error: TaskError }) {
  return (
    <div class="error-box">
      <p class="error-message">{error.message}</p>
      <p class="muted">{[word('kind', error.kind), error.code].filter(Boolean).join(' · ')}</p>
      {error.stack && <pre tabIndex={0} aria-label={t('task.stack')}>{error.stack}</pre>}
    </div>
  );
}

/** Newest first: the last error is the one that counts. */
export function Errors({ task, history, same }: { task: Task; history: readonly Transition[]; same: number }) {
  const failed = history.filter(step => step.error).toReversed();
  if (failed.length === 0 && !task.error) return <Empty title={t('task.no_errors')} />;
  return (
    <div class="errors">
      {same > 0 && task.fingerprint && <p><a href={href('tasks', { q: `group:${task.fingerprint}` })}>{t('task.same_error', { n: same })}</a></p>}
      {failed.length === 0 && task.error && <ErrorBox error={task.error} />}
      {failed.map((step, at) => (
        <details open={at === 0}>
          <summary><b>{t('task.attempt', { n: step.attempt })}</b> <At at={step.at} /> <span class="muted">{step.error!.message}</span></summary>
          <ErrorBox error={step.error!} />
        </details>
      ))}
    </div>
  );
}

export function History({ history }: { history: readonly Transition[] }) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={t('task.history')}>
      <table>
        <thead><tr><th scope="col">{t('task.when')}</th><th scope="col">{t('task.event')}</th><th scope="col">{t('task.step')}</th><th scope="col" class="num">{t('tasks.attempt')}</th><th scope="col">{t('task.who')}</th><th scope="col">{t('task.message')}</th></tr></thead>
        <tbody>
          {history.toReversed().map(step => (
            <tr>
              <td class="nowrap"><At at={step.at} /></td>
              <td class="nowrap">{word('event', step.event ?? '')}</td>
              <td class="nowrap">{step.from !== step.to || step.event === 'submitted' ? <StateMark state={step.to} /> : ''}</td>
              <td class="num">{step.attempt}</td>
              <td>{step.actor}</td>
              <td class="wrap">{step.error?.message ?? step.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Each payload that was replaced, and what replaced it. */
export function Revisions({ id, payload, version }: { id: string; payload: string; version: number }) {
  const revisions = useResource(`revisions ${id} ${version}`, async stop => {
    const list = members(await getText(`v1/tasks/${id}/revisions`, { redact: 1 }, stop)).get('revisions') ?? '[]';
    return elements(list).map(text => members(text));
  });
  if (revisions.error.value) return <Trouble error={revisions.error.value} retry={() => void revisions.refresh()} />;
  const list = revisions.data.value;
  if (!list) return <Loading />;
  if (list.length === 0) return <Empty title={t('task.no_revisions')} />;
  const payloads = [...list.map(one => one.get('payload') ?? 'null'), payload];
  return (
    <div class="errors">
      {list.map((one, at) => ({ one, at })).reverse().map(({ one, at }) => (
        <details open={at === list.length - 1}>
          <summary><b>{t('task.revision', { n: String(JSON.parse(one.get('revision') ?? 'null') ?? at + 1) })}</b></summary>
          <JsonView text={payloads[at]!} name={`${id}-payload-${at + 1}.json`} />
          <h3>{t('task.changed_to')}</h3>
          <Diff before={pretty(payloads[at]!)} after={pretty(payloads[at + 1]!)} label={t('task.changed_to')} />
        </details>
      ))}
    </div>
  );
}
