// Attempts and waits on one axis: what worked is filled, what waited is hatched.
import { useState } from 'preact/hooks';
import { duration, fullTime, shortTime } from '../lib/format';
import { t, word } from '../lib/i18n';
import { FINAL, type State, type Transition } from '../lib/types';
import { waterfall, type Lane, type Span } from '../lib/waterfall';
import { clock, Section } from './basics';

const MOST_LANES = 40;
const share = (part: number) => `${(part * 100).toFixed(3)}%`;

function spanTitle(span: Span): string {
  const text = `${word('state', span.state)} · ${duration(span.to - span.from)} · ${fullTime(span.from)}`;
  return span.shortened ? `${text} · ${t('task.shortened')}` : text;
}

function LaneRow({ lane, isNext }: { lane: Lane; isNext: boolean }) {
  const bad = lane.ended === 'failed' || lane.ended === 'lease_ended' || lane.ended === 'timed_out';
  return (
    <li class="lane" id={`a${lane.attempt}`}>
      <span class="lane-name">{isNext ? word('state', lane.spans.at(-1)!.state) : t('task.attempt', { n: lane.attempt })}</span>
      <span class="lane-track">
        {lane.spans.map(span => (
          <span
            class={`span ${span.busy ? 'busy' : 'idle'} s-${span.state}${span.busy && bad ? ' ended-bad' : ''}${span.busy && lane.ended === 'completed' ? ' ended-ok' : ''}${span.open ? ' open' : ''}${span.shortened ? ' shortened' : ''}`}
            style={{ left: share(span.left), width: share(span.width) }}
            title={spanTitle(span)}
          />
        ))}
        {lane.marks.map(mark => <span class="mark" style={{ left: share(mark.left) }} title={t('task.checkpoint', { name: mark.text })} />)}
      </span>
      <span class="lane-says">
        <span>{lane.ran > 0 || !isNext ? t('task.waited_ran', { waited: duration(lane.waited), ran: duration(lane.ran) }) : t('task.waited', { waited: duration(lane.waited) })}</span>
        {lane.ended && <span class={bad ? 'bad-text' : 'muted'} title={lane.error}>{word('event', lane.ended)}</span>}
      </span>
    </li>
  );
}

export function Waterfall({ history, state }: { history: readonly Transition[]; state: State }) {
  const [collapse, setCollapse] = useState(true);
  const [all, setAll] = useState(false);
  const now = FINAL.includes(state) ? 0 : clock.value;
  const fall = waterfall(history, now, collapse);
  if (fall.lanes.length === 0) return null;
  const lanes = all ? fall.lanes : fall.lanes.slice(-MOST_LANES);
  return (
    <Section title={t('task.waterfall')} class="waterfall" actions={fall.collapsible ? (
      <label class="check-label"><input type="checkbox" checked={collapse} onChange={() => setCollapse(!collapse)} />{t('task.collapse')}</label>
    ) : undefined}>
      {lanes.length < fall.lanes.length && <button type="button" class="quiet" onClick={() => setAll(true)}>{t('task.more_lanes', { n: fall.lanes.length })}</button>}
      <ol>
        {lanes.map(lane => <LaneRow lane={lane} isNext={lane.spans.every(span => !span.busy)} />)}
      </ol>
      <div class="axis muted"><time>{shortTime(fall.from)}</time><span>{duration(fall.to - fall.from)}</span><time>{shortTime(fall.to)}</time></div>
    </Section>
  );
}
