import { Act, At, Empty, Loading, Section, StateMark, Trouble } from '../../components/basics';
import { get, post } from '../../lib/api';
import { number, percent, shortId } from '../../lib/format';
import { t, word } from '../../lib/i18n';
import { held } from '../../lib/may';
import { ask, attempt } from '../../lib/notices';
import { useResource } from '../../lib/resource';
import { FINAL, type BulkJob } from '../../lib/types';
import { href } from '../../lib/url';

function what(job: BulkJob): string {
  if (job.q) return job.q;
  const filter = job.filter && typeof job.filter === 'object' ? Object.entries(job.filter) : [];
  return filter.map(([name, value]) => `${name}:${Array.isArray(value) ? value.join(',') : String(value)}`).join(' ');
}

async function stop(job: BulkJob): Promise<void> {
  const said = await ask({ title: t('jobs.stop_ask'), body: t('jobs.stop_body', { n: job.done }), verb: t('jobs.stop'), tone: 'bad', reason: true });
  if (said) await attempt(() => post(`v1/bulk/${job.bulk_id}/stop`, said.reason === '' ? {} : { reason: said.reason }), () => t('jobs.stopped'));
}

function Job({ job, after }: { job: BulkJob; after(): unknown }) {
  const over = FINAL.includes(job.state);
  const handled = job.done + (job.refused_count ?? 0);
  const all = job.expected ?? (over ? job.matched : undefined);
  const known = typeof all === 'number';
  const share = over && job.state === 'succeeded' ? 1 : Math.min(1, handled / Math.max(1, all ?? 0));
  const paused = job.state === 'paused';
  const turn = async () => {
    await attempt(() => post(`v1/bulk/${job.bulk_id}/${paused ? 'resume' : 'pause'}`), () => (paused ? t('jobs.resumed') : t('jobs.paused')));
    after();
  };
  return (
    <li class="job">
      <div class="job-head">
        <StateMark state={job.state} says={job.state === 'cancelled' ? t('jobs.was_stopped') : undefined} />
        <b>{word('audit', `task.${job.action}`)}</b>
        {what(job) !== '' && <a class="job-filter" href={href('tasks', { q: what(job) })}><code>{what(job)}</code></a>}
        <span class="spring" />
        {!over && (
          <span class="row">
            <Act run={turn} {...held()}>{paused ? t('queue.resume') : t('queue.pause')}<span class="sr"> {job.bulk_id}</span></Act>
            <Act tone="bad" run={async () => { await stop(job); after(); }} {...held()}>{t('jobs.stop')}<span class="sr"> {job.bulk_id}</span></Act>
          </span>
        )}
      </div>
      <div class="job-progress">
        <progress {...(known ? { value: share } : {})} max={1} aria-label={t('jobs.progress', { id: shortId(job.bulk_id) })} />
        {known && <span class="job-share">{percent(share)}</span>}
        <span>{known ? t('jobs.done', { done: number(job.done), matched: number(all) }) : t('jobs.so_far', { n: job.done })}</span>
        {(job.refused_count ?? 0) > 0 && <span class="warn-text">{t('jobs.refused', { n: job.refused_count! })}</span>}
        {job.rate ? <span class="muted">{t('jobs.rate', { n: number(job.rate) })}</span> : null}
      </div>
      <p class="muted">
        <span class="id" title={job.bulk_id}>{shortId(job.bulk_id)}</span> · <At at={job.created_at} />{job.finished_at && <> – <At at={job.finished_at} /></>}{job.who && <> · {job.who}</>}{job.reason && <> · “{job.reason}”</>}
      </p>
    </li>
  );
}

export function BulkJobs() {
  const list = useResource('bulk', signal => get<{ jobs: BulkJob[] }>('v1/bulk', {}, signal), { every: 2_000 });
  const jobs = list.data.value?.jobs;
  return (
    <Section title={t('system.bulk')}>
      <Trouble error={list.error.value} retry={() => void list.refresh()} />
      {!jobs ? !list.error.value && <Loading />
        : jobs.length === 0 ? <Empty title={t('jobs.none')}><p>{t('jobs.none_why')}</p></Empty>
        : <ul class="jobs">{jobs.map(job => <Job key={job.bulk_id} job={job} after={list.refresh} />)}</ul>}
    </Section>
  );
}
