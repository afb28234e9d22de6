// What waits for a person: why, since when, and what to do about it.
import { columnsOf } from '../components/columns';
import { Empty, Page } from '../components/basics';
import { TaskList } from '../components/TaskList';
import type { Column } from '../components/VTable';
import { actOnOne } from '../lib/acts';
import { get } from '../lib/api';
import { GROUPS } from '../lib/listing';
import { t } from '../lib/i18n';
import { held } from '../lib/may';
import { useResource } from '../lib/resource';
import type { FailureGroup, TaskHead } from '../lib/types';
import { href } from '../lib/url';

export default function Suspended() {
  // Rows carry the fingerprint of their last failure; what it says is the same for all that have it.
  const groups = useResource('groups', stop => get<{ groups: FailureGroup[] }>('v1/failures', GROUPS, stop), { every: 10_000 });
  const isKnown = groups.data.value !== undefined || groups.error.value !== undefined;
  const says = new Map(groups.data.value?.groups.map(group => [group.fingerprint, group]));
  const reason: Column<TaskHead> = {
    id: 'reason',
    title: t('suspended.reason'),
    class: 'c-reason',
    look: String(isKnown),
    cell: task => {
      const group = says.get(task.fingerprint ?? '');
      if (group) return <a tabIndex={-1} href={href('failures', { open: group.fingerprint })} title={group.sample}>{group.message}</a>;
      if (task.note) return task.note;
      if (!task.fingerprint) return <span class="muted">{t('suspended.no_error')}</span>;
      if (!isKnown) return <span class="soon"><span class="sr">{t('common.loading')}</span></span>;
      // Of a rare error, one of more than are read here, the task itself tells.
      return <a tabIndex={-1} href={href(`tasks/${task.id}`, { tab: 'errors' })}>{t('suspended.see_errors')}</a>;
    },
  };
  const acts = (refresh: (id: string) => void): Column<TaskHead> => ({
    id: 'acts',
    title: t('suspended.acts'),
    class: 'c-acts',
    cell: task => task.state !== 'suspended' ? '' : (
      <>
        <button type="button" tabIndex={-1} class="small" {...held()} onClick={() => void actOnOne('resume', task).then(() => refresh(task.id))}>{t('act.resume')}</button>
        <a class="button small" tabIndex={-1} href={href(`tasks/${task.id}`, { edit: 1 })}>{t('act.edit_short')}</a>
        <button type="button" tabIndex={-1} class="small bad" {...held()} onClick={() => void actOnOne('discard', task).then(() => refresh(task.id))}>{t('act.discard')}</button>
      </>
    ),
  });
  const columns = (refresh: (id: string) => void) => [...columnsOf(['mark', 'kind', 'spare_id']), reason, ...columnsOf(['spare_queue', 'tenant', 'since']), acts(refresh)];
  const nothing = (
    <Empty title={t('suspended.none')}>
      <p>{t('suspended.what')}</p>
      <ul class="says">
        <li>{t('suspended.exhausted')}</li>
        <li>{t('suspended.permanent')}</li>
        <li>{t('suspended.deadline')}</li>
        <li>{t('suspended.poison')}</li>
      </ul>
    </Empty>
  );
  return (
    <Page title={t('nav.suspended')} wide>
      <TaskList label={t('nav.suspended')} always="state:suspended" columns={columns} actions={['resume', 'cancel', 'discard']} nothing={nothing} />
    </Page>
  );
}
