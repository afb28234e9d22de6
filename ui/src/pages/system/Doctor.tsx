import { Act, At, Command, Loading, Section, TaskLink, Trouble } from '../../components/basics';
import { get } from '../../lib/api';
import { number } from '../../lib/format';
import { t, word } from '../../lib/i18n';
import { serverAddress } from '../../lib/place';
import { useResource } from '../../lib/resource';
import type { Diagnosis } from '../../lib/types';

const LISTS = ['without_wake_source', 'misplaced', 'overdue', 'miscounted'] as const;

function Check({ name, bad, children }: { name: string; bad: boolean; children?: preact.ComponentChildren }) {
  return (
    <li class="check">
      <span class={bad ? 'bad-text' : 'ok-text'} aria-hidden="true">{bad ? '✕' : '✓'}</span>
      <div><span>{word('check', name)}</span><span class="sr"> {bad ? t('doctor.bad') : t('doctor.good')}</span>{children}</div>
    </li>
  );
}

/** The examination looks at every unfinished task: it is made when somebody asks, not every second. */
export function Doctor() {
  const found = useResource('doctor', signal => get<Diagnosis>('v1/doctor', {}, signal));
  const report = found.data.value;
  return (
    <Section title={t('system.doctor')} actions={<Act run={found.refresh} disabled={found.loading.value}>{t('doctor.again')}</Act>}>
      <Trouble error={found.error.value} />
      {!report ? !found.error.value && <Loading /> : (
        <>
          <p class={report.healthy ? 'ok-text' : 'bad-text'}><b>{report.healthy ? t('doctor.healthy') : t('doctor.unhealthy')}</b></p>
          <ul class="checks">
            <Check name="store_is_whole" bad={report.store_is_whole === false}>{report.store_problem && <p class="bad-text">{report.store_problem}</p>}</Check>
            {LISTS.map(list => {
              const entries = report[list] ?? [];
              return (
                <Check name={list} bad={entries.length > 0}>
                  {entries.length > 0 && <ul class="bits">{entries.map(entry => <li>{list === 'miscounted' ? <code>{entry}</code> : <TaskLink id={entry} />}</li>)}</ul>}
                </Check>
              );
            })}
          </ul>
          <p class="muted">{t('doctor.examined', { n: number(report.examined ?? 0) })} {report.time && <At at={report.time} />}</p>
        </>
      )}
      <p class="muted">{t('doctor.more')}</p>
      <Command text={`holdfast doctor --server ${serverAddress()}`} />
    </Section>
  );
}
