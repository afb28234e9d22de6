// The first run: three commands, each of which turns green by itself.
import { serverAddress } from '../lib/place';
import { t } from '../lib/i18n';
import { href } from '../lib/url';
import { Command, Section } from './basics';

export interface Steps {
  worker: boolean;
  submitted: boolean;
  finished: boolean;
}

function Step({ done, title, children }: { done: boolean; title: string; children: preact.ComponentChildren }) {
  return (
    <li class={done ? 'step done' : 'step'}>
      <span class="step-mark" aria-hidden="true">{done ? '✓' : ''}</span>
      <div class="step-body">
        <h3>{title}{done && <span class="sr"> {t('first.done')}</span>}</h3>
        {children}
      </div>
    </li>
  );
}

export function FirstSteps({ steps, onHide }: { steps: Steps; onHide(): void }) {
  const all = steps.worker && steps.submitted && steps.finished;
  const at = serverAddress();
  return (
    <Section title={t('first.title')} actions={all && <button type="button" class="main" onClick={onHide}>{t('first.hide')}</button>}>
      <ol class="steps">
        <Step done={steps.worker} title={t('first.worker')}>
          <p class="muted">{t('first.worker_why')}</p>
          <Command text={`holdfast work --server ${at} --queue hello -- cat`} />
        </Step>
        <Step done={steps.submitted} title={t('first.submit')}>
          <p class="muted">{t('first.submit_why')}</p>
          <Command text={`holdfast submit hello.world '{"name":"you"}' --queue hello --server ${at}`} />
        </Step>
        <Step done={steps.finished} title={t('first.see')}>
          <p class="muted">{t('first.see_why')} <a href={href('tasks', { q: 'queue:hello' })}>{t('nav.tasks')}</a></p>
        </Step>
      </ol>
      <span class="sr" role="status">{all ? t('first.all') : ''}</span>
    </Section>
  );
}
