// How many there are of what, beside the list; a click adds a value to the filter or takes it away.
import { get } from '../lib/api';
import { hasValue, isCounted, parse, toggle, withoutField } from '../lib/filter';
import { number, shortNumber } from '../lib/format';
import { t, type Key } from '../lib/i18n';
import { useResource, type Resource } from '../lib/resource';
import { STATES, type Facet, type Facets as FacetData } from '../lib/types';
import { StateMark } from './basics';

type Name = 'state' | 'queue' | 'type' | 'tenant';
const NAMES: readonly { id: Name; title: Key }[] = [
  { id: 'state', title: 'filter.state' },
  { id: 'queue', title: 'filter.queue' },
  { id: 'type', title: 'filter.type' },
  { id: 'tenant', title: 'filter.tenant' },
];
const SHOWN = 12;

/**
 * The counts of everything that matches. A field that the filter names is counted as if it did not, so that its other
 * values can be chosen too; where counters cannot say that, only the chosen ones are shown.
 */
export async function readFacets(q: string, stop: AbortSignal): Promise<FacetData> {
  const named = NAMES.filter(({ id }) => parse(q).clauses.some(clause => clause.field === id) && isCounted(withoutField(q, id)));
  const [whole, ...parts] = await Promise.all([
    get<FacetData>('v1/tasks/facets', { q }, stop),
    ...named.map(({ id }) => get<FacetData>('v1/tasks/facets', { q: withoutField(q, id) }, stop)),
  ]);
  const facets = { ...whole.facets };
  named.forEach(({ id }, at) => {
    const counted = parts[at]?.facets[id];
    if (counted) facets[id] = counted;
  });
  return { ...whole, facets };
}

export function useFacets(q: string): Resource<FacetData> {
  // Counts that cost a search are read once; those that counters give are read again while one looks.
  return useResource(`facets ${q}`, stop => readFacets(q, stop), { every: isCounted(q) ? 5_000 : 0 });
}

function inOrder(name: Name, list: readonly Facet[]): readonly Facet[] {
  return name === 'state' ? list.toSorted((a, b) => STATES.indexOf(a.value as 'queued') - STATES.indexOf(b.value as 'queued')) : list;
}

const shownOf = (data: FacetData | undefined, query: string, id: Name) => (data?.facets[id] ?? []).filter(one => one.value !== '' && (one.count > 0 || hasValue(query, id, one.value)));

/** Whether there is anything to choose from; as long as nobody knows, room is kept for it. */
export function hasFacets(data: FacetData | undefined, query: string, leave: readonly Name[] = []): boolean {
  return data === undefined || NAMES.some(({ id }) => !leave.includes(id) && shownOf(data, query, id).length > 0);
}

export function Facets({ data, query, onQuery, leave = [] }: { data: FacetData | undefined; query: string; onQuery(query: string): void; leave?: readonly Name[] }) {
  return (
    <div class="facets">
      {NAMES.filter(({ id }) => !leave.includes(id)).map(({ id, title }) => {
        const list = shownOf(data, query, id);
        if (list.length === 0) return null;
        return (
          <fieldset>
            <legend>{t(title)}</legend>
            <ul>
              {inOrder(id, list).slice(0, SHOWN).map(one => {
                const on = hasValue(query, id, one.value);
                return (
                  <li>
                    <label class={on ? 'facet on' : 'facet'}>
                      <input type="checkbox" checked={on} onChange={() => onQuery(toggle(query, id, one.value))} />
                      {id === 'state' ? <StateMark state={one.value} /> : <span class="clip" title={one.value}>{one.value}</span>}
                      <span class="facet-count" title={number(one.count)}>{shortNumber(one.count)}</span>
                    </label>
                  </li>
                );
              })}
            </ul>
          </fieldset>
        );
      })}
      {data && !data.exact && <p class="muted">{t('tasks.facets_part', { n: data.scanned })}</p>}
    </div>
  );
}
