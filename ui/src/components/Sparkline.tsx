// The course of a number, without axes: what it says exactly stands beside it.
const WIDTH = 100;
const HEIGHT = 24;

export function pathOf(values: readonly number[]): string {
  if (values.length < 2) return '';
  const most = Math.max(...values, 1e-9);
  const step = WIDTH / (values.length - 1);
  return values.map((value, at) => `${at === 0 ? 'M' : 'L'}${(at * step).toFixed(1)} ${(HEIGHT - 1 - (value / most) * (HEIGHT - 3)).toFixed(1)}`).join('');
}

export function Sparkline({ values }: { values: readonly number[] }) {
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <path d={pathOf(values)} />
    </svg>
  );
}
