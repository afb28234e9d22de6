// The canvas of a chart. uPlot is a chunk of its own: a page is there before it.
import { useComputed } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clockTime } from '../lib/format';
import { stack } from '../lib/series';
import { lang, theme, zone } from '../lib/settings';
import type { ChartProps, ChartRow } from './Chart';

const HEIGHT = 190;

/** A canvas knows no custom properties: the browser is asked what they are just now. */
function colourOf(host: HTMLElement, token: string): string {
  host.style.color = `var(--${token})`;
  const colour = getComputedStyle(host).color;
  host.style.color = '';
  return colour;
}

function dataOf({ times, rows, kind }: Pick<ChartProps, 'times' | 'rows' | 'kind'>): uPlot.AlignedData {
  if (kind === 'lines') return [times as number[], ...rows.map(row => row.values as (number | null)[])];
  // The highest is drawn first, and what lies below it over it.
  return [times as number[], ...stack(rows.map(row => row.values.map(value => value ?? 0))).reverse()];
}

function seriesOf(row: ChartRow, kind: ChartProps['kind'], colour: string): uPlot.Series {
  if (kind === 'lines') return { stroke: colour, width: 1.75, points: { size: 4, fill: colour }, ...(row.dashed ? { dash: [6, 4] } : {}) };
  return { stroke: colour, fill: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.82, 24], align: 1 }) };
}

/** Goes up when the system's theme changes: colours must be asked for again. */
function useSystemTheme(): number {
  const [n, set] = useState(0);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => set(before => before + 1);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  return n;
}

function optionsOf(host: HTMLElement, props: ChartProps, step: number, hover: (at: number | null) => void): uPlot.Options {
  const muted = colourOf(host, 'muted');
  const line = colourOf(host, 'line');
  const rows = props.kind === 'stack' ? props.rows.toReversed() : props.rows;
  const axis = { stroke: muted, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  const zoneName = zone.peek();
  return {
    width: Math.max(200, host.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: props.kind === 'lines' } },
    ...(zoneName === 'local' ? {} : { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), zoneName) }),
    scales: {
      x: { range: (_, min, max) => [min, max + step] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.06 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: 26, values: (_, splits) => splits.map(at => clockTime(at * 1000, false)) },
      { ...axis, space: 34, size: 54, values: (_, splits) => splits.map(value => props.format(value)) },
    ],
    series: [{}, ...rows.map(row => seriesOf(row, props.kind, colourOf(host, row.token)))],
    hooks: { setCursor: [chart => hover(chart.cursor.idx ?? null)] },
  };
}

export default function TimeChart(props: ChartProps & { onHover(at: number | null): void }) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const system = useSystemTheme();
  const look = useComputed(() => `${theme.value}|${zone.value}|${lang.value}`).value;
  const step = (props.times[1] ?? 0) - (props.times[0] ?? 0);
  useEffect(() => {
    const place = host.current!;
    const made = new uPlot(optionsOf(place, props, step, props.onHover), dataOf(props), place);
    chart.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: Math.max(200, place.clientWidth), height: HEIGHT }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      made.destroy();
      chart.current = undefined;
      props.onHover(null);
    };
  }, [look, system, step, props.kind, props.rows.length]);
  useEffect(() => chart.current?.setData(dataOf(props)), [props.times, props.rows]);
  return <div ref={host} class="chart-canvas" />;
}
