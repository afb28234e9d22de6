// How far back charts look; in the address, so that a link shows the same.
import { t } from '../lib/i18n';
import { RANGES, type Range } from '../lib/series';
import { param, setParams } from '../lib/url';

export function useRange(): Range {
  const asked = param('range');
  return RANGES.find(range => range === asked) ?? '15m';
}

export function RangeSwitch() {
  const current = useRange();
  return (
    <div class="segments" role="group" aria-label={t('chart.range')}>
      {RANGES.map(range => (
        <button type="button" aria-pressed={range === current} onClick={() => setParams({ range: range === '15m' ? null : range })}>{range}</button>
      ))}
    </div>
  );
}
