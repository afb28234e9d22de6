// The two charts of the overview: what became of tasks, and how long they waited.
import { useMemo } from 'preact/hooks';
import { duration, number } from '../lib/format';
import { t, word } from '../lib/i18n';
import { newest, OUTCOMES, seconds, sum, times, type Numbers, type Outcome } from '../lib/series';
import { lang } from '../lib/settings';
import type { Series } from '../lib/types';
import { param, setParams } from '../lib/url';
import { Chart } from './Chart';

const TOKENS: Readonly<Record<Outcome, string>> = { succeeded: 'ok', cancelled: 'strong-line', discarded: 'line', suspended: 'warn', failed: 'bad' };
const total = (values: Numbers) => sum(values as number[]);

export function Outcomes({ series }: { series: Series }) {
  const rows = useMemo(() => OUTCOMES.map(name => ({ name: word('state', name), values: series[name] ?? [], token: TOKENS[name] })), [series, lang.value]);
  const at = useMemo(() => times(series, series.succeeded.length), [series]);
  return (
    <Chart
      title={t('chart.outcomes')} note={t('chart.per_step', { step: duration(seconds(series.step) * 1000), range: series.range })} kind="stack" times={at} rows={rows} format={number}
      summary={total} empty={rows.every(row => total(row.values) === 0)}
      table={param('outcomes') === 'table'} onTable={table => setParams({ outcomes: table ? 'table' : null }, 'replace')}
    />
  );
}

export function Waits({ series }: { series: Series }) {
  const { p50, p95 } = series.wait_ms;
  const rows = useMemo(() => [{ name: 'p50', values: p50, token: 'info' }, { name: 'p95', values: p95, token: 'warn', dashed: true }], [series]);
  const at = useMemo(() => times(series, p50.length), [series]);
  return (
    <Chart
      title={t('chart.waits')} note={t('chart.newest')} kind="lines" times={at} rows={rows} format={duration} summary={newest} empty={newest(p95) === null}
      table={param('waits') === 'table'} onTable={table => setParams({ waits: table ? 'table' : null }, 'replace')}
    />
  );
}
