// All tasks, searched and acted on.
import { Command, Empty, Page } from '../components/basics';
import { columnsOf } from '../components/columns';
import { TaskList } from '../components/TaskList';
import { ACTIONS } from '../lib/acts';
import { t } from '../lib/i18n';

export default function Tasks() {
  const nothing = (
    <Empty title={t('tasks.none')}>
      <p>{t('tasks.none_says')}</p>
      <Command text={`holdfast submit demo.hello '{"name":"you"}' --server ${window.location.origin}`} />
    </Empty>
  );
  return (
    <Page title={t('nav.tasks')} wide>
      <TaskList label={t('nav.tasks')} always="" columns={() => columnsOf(['state', 'type', 'id', 'tenant', 'queue', 'attempt', 'age', 'wait', 'run', 'worker', 'progress'])} actions={ACTIONS} nothing={nothing} />
    </Page>
  );
}
