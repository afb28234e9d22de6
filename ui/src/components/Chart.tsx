// A chart with its legend and its twin: the same numbers as a table, for who cannot see a canvas or wants to copy them.
import type { ComponentType } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { clockTime, fullTime } from '../lib/format';
import { t } from '../lib/i18n';
import type { Numbers } from '../lib/series';
import { Section } from './basics';

export interface ChartRow {
  name: string;
  values: Numbers;
  /** The colour's name without its dashes. */
  token: string;
  dashed?: boolean;
}
export interface ChartProps {
  times: readonly number[];
  rows: readonly ChartRow[];
  kind: 'stack' | 'lines';
  format(value: number): string;
}

type Canvas = ComponentType<ChartProps & { onHover(at: number | null): void }>;
let canvas: Canvas | undefined;

function useCanvas(wanted: boolean): Canvas | undefined {
  const [, shown] = useState(0);
  useEffect(() => {
    if (!wanted || canvas) return;
    void import('./TimeChart').then(module => {
      canvas = module.default;
      shown(n => n + 1);
    });
  }, [wanted]);
  return canvas;
}

function AsTable({ title, times, rows, format }: ChartProps & { title: string }) {
  return (
    <div class="chart-table" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr><th scope="col">{t('chart.from')}</th>{rows.map(row => <th scope="col" class="num">{row.name}</th>)}</tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time}>
              <th scope="row"><time dateTime={new Date(time * 1000).toISOString()} title={fullTime(time * 1000)}>{clockTime(time * 1000, true)}</time></th>
              {rows.map(row => <td class="num">{row.values[at] == null ? '–' : format(row.values[at])}</td>)}
            </tr>
          )).reverse()}
        </tbody>
      </table>
    </div>
  );
}

/** `summary` is what a row is worth when nobody points at a moment: its sum, or its newest value. */
export function Chart({ title, note, table, onTable, summary, empty, ...props }: ChartProps & {
  title: string;
  note: string;
  table: boolean;
  onTable(table: boolean): void;
  summary(values: Numbers): number | null;
  empty: boolean;
}) {
  const [hover, setHover] = useState<number | null>(null);
  const onHover = useCallback((at: number | null) => setHover(at), []);
  const Canvas = useCanvas(!table && !empty);
  const value = (row: ChartRow) => {
    const shown = hover === null ? summary(row.values) : (row.values[hover] ?? null);
    return shown === null ? '–' : props.format(shown);
  };
  const at = hover === null ? undefined : props.times[hover];
  const legend = props.rows.map(row => ({ row, value: value(row) }));
  return (
    <Section
      class="chart"
      title={title}
      actions={
        <>
          <span class="chart-note muted">{at === undefined ? note : clockTime(at * 1000, true)}</span>
          <button type="button" class="quiet" aria-pressed={table} onClick={() => onTable(!table)}>{t('chart.table')}<span class="sr"> {title}</span></button>
        </>
      }
    >
      <div class="legend">
        {legend.map(({ row, value: shown }) => (
          <span class="legend-row"><span class={`swatch swatch-${row.token}${row.dashed ? ' dashed' : ''}`} aria-hidden="true" />{row.name} <b>{shown}</b></span>
        ))}
      </div>
      {empty ? <div class="chart-body chart-none muted">{t('chart.none')}</div>
        : table ? <AsTable title={title} {...props} />
        : <div class="chart-body" role="img" aria-label={`${title}. ${note}: ${legend.map(({ row, value: shown }) => `${row.name} ${shown}`).join(', ')}`}>{Canvas && <Canvas {...props} onHover={onHover} />}</div>}
    </Section>
  );
}
