// The filter language as the search box needs it: where each clause begins and ends, what could come next, how a click
// changes it. The server's parser is the judge of what is right and what it means.
import type { Key } from './i18n';
import { STATES } from './types';

export interface FilterValue {
  start: number;
  end: number;
  /** Without its quotes. */
  text: string;
}
export interface Clause {
  start: number;
  end: number;
  negated: boolean;
  /** '' for a bare word. */
  field: string;
  values: FilterValue[];
}
export interface Mistake {
  position: number;
  is: 'field' | 'value' | 'quote' | 'state';
  /** What was written there, and what may have been meant. */
  wrote: string;
  meant?: string | undefined;
}
export interface Parsed {
  clauses: Clause[];
  mistake?: Mistake | undefined;
}

export interface Field {
  name: string;
  says: Key;
  /** Values that somebody may want, where the server does not count them. */
  examples?: readonly string[];
  /** Its values are counted by the facets. */
  counted?: true;
}

export const FIELDS: readonly Field[] = [
  { name: 'state', says: 'filter.state', counted: true },
  { name: 'queue', says: 'filter.queue', counted: true },
  { name: 'type', says: 'filter.type', counted: true },
  { name: 'tenant', says: 'filter.tenant', counted: true },
  { name: 'age', says: 'filter.age', examples: ['<15m', '<1h', '<1d', '>1d', '>7d'] },
  { name: 'error', says: 'filter.error', examples: ['~"429"', '~timeout'] },
  { name: 'running', says: 'filter.running', examples: ['>1m', '>10m', '>1h'] },
  { name: 'attempt', says: 'filter.attempt', examples: ['>=2', '>=3', '>=5'] },
  { name: 'worker', says: 'filter.worker' },
  { name: 'label.', says: 'filter.label_key' },
  { name: 'input.', says: 'filter.input' },
  { name: 'group', says: 'filter.group' },
  { name: 'id', says: 'filter.id' },
  { name: 'retries', says: 'filter.retries', examples: ['>=1', '>=3'] },
  { name: 'priority', says: 'filter.priority', examples: ['>=7', '<=3'] },
  { name: 'created', says: 'filter.created' },
  { name: 'updated', says: 'filter.updated' },
  { name: 'wait', says: 'filter.wait', examples: ['<1m', '>1h'] },
  { name: 'waiting', says: 'filter.waiting', examples: ['delay', 'retry', 'signal', 'paused'] },
];

/** What Chinese keyboards write, as its ASCII twin; every character keeps its place. */
export function plain(text: string): string {
  return text.replace(/[\uff01-\uff5e]/g, sign => String.fromCharCode(sign.charCodeAt(0) - 0xfee0)).replace(/[“”]/g, '"').replaceAll('　', ' ').replaceAll('、', ',');
}

const isBlank = (sign: string | undefined) => sign === ' ' || sign === '\t' || sign === '\n';

/** Reads one value from `at`; it ends before a blank (or a comma, where there may be several) that is not quoted. What is quoted is taken as written. */
function readValue(text: string, query: string, at: number, several: boolean): { value: FilterValue; open: boolean } {
  let end = at;
  let quoted = false;
  let out = '';
  while (end < text.length && (quoted || (!(several && text[end] === ',') && !isBlank(text[end])))) {
    if (text[end] === '"') quoted = !quoted;
    else if (quoted && text[end] === '\\' && end + 1 < text.length) out += query[++end];
    else out += quoted ? query[end] : text[end];
    end++;
  }
  return { value: { start: at, end, text: out }, open: quoted };
}

export function isField(name: string): boolean {
  return name === 'input' || FIELDS.some(field => (field.name.endsWith('.') ? name.startsWith(field.name) && name.length > field.name.length : field.name === name));
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
}
const OTHER_WORDS: Readonly<Record<string, string>> = { kind: 'type', status: 'state', name: 'type', attempts: 'attempt', retry: 'retries', labels: 'label.', payload: 'input.', label: 'label.', user: 'tenant', fingerprint: 'group', message: 'error' };
export function meant(wrote: string, known: readonly string[]): string | undefined {
  const other = OTHER_WORDS[wrote];
  if (other && known.includes(other)) return other;
  const near = known.map(name => ({ name, far: distance(wrote, name) })).sort((a, b) => a.far - b.far)[0];
  return near && near.far <= Math.max(1, Math.floor(wrote.length / 3)) ? near.name : undefined;
}

function mistakeOf(text: string, clause: Clause, colon: number, open: boolean): Mistake | undefined {
  const from = clause.start + (clause.negated ? 1 : 0);
  if (!isField(clause.field)) return { position: from, is: 'field', wrote: clause.field, meant: meant(clause.field, FIELDS.map(field => field.name)) };
  if (open) return { position: text.lastIndexOf('"'), is: 'quote', wrote: '"' };
  const empty = clause.values.find(value => value.end === value.start);
  if (empty) return { position: Math.max(empty.start, colon), is: 'value', wrote: clause.field };
  if (clause.field !== 'state') return undefined;
  const wrong = clause.values.find(value => !(STATES as readonly string[]).includes(value.text));
  return wrong && { position: wrong.start, is: 'state', wrote: wrong.text, meant: meant(wrong.text, STATES) };
}

export function parse(query: string): Parsed {
  const text = plain(query);
  const clauses: Clause[] = [];
  let mistake: Mistake | undefined;
  let at = 0;
  while (at < text.length) {
    if (isBlank(text[at])) {
      at++;
      continue;
    }
    const start = at;
    const negated = text[at] === '-' && at + 1 < text.length && !isBlank(text[at + 1]);
    if (negated) at++;
    const head = /^[^\s:",<>~=]+:/.exec(text.slice(at));
    const clause: Clause = { start, end: at, negated, field: head ? head[0].slice(0, -1) : '', values: [] };
    if (head) at += head[0].length;
    const colon = at - 1;
    let open = false;
    for (;;) {
      const read = readValue(text, query, at, head !== null);
      clause.values.push(read.value);
      open ||= read.open;
      at = read.value.end;
      if (!head || text[at] !== ',') break;
      at++;
    }
    clause.end = at;
    clauses.push(clause);
    if (head) mistake ??= mistakeOf(text, clause, colon, open);
  }
  return { clauses, mistake };
}

/** The server counts characters, a text here its UTF-16 units. */
export function placeOf(query: string, position: number): number {
  return [...query].slice(0, Math.max(0, position)).join('').length;
}

/** A value as it must be written to mean just itself. */
export function quote(value: string): string {
  if (value !== '' && !/[\s,"\\()*]|\.\.|^[<>~=-]/.test(plain(value))) return value;
  return `"${value.replace(/["\\]/g, sign => `\\${sign}`)}"`;
}

const tidy = (text: string) => text.trim().replace(/ {2,}/g, ' ');

/** The query without that clause. */
export function without(query: string, clause: Clause): string {
  return tidy(`${query.slice(0, clause.start)} ${query.slice(clause.end)}`);
}

export function withClause(query: string, text: string): string {
  return tidy(`${query} ${text}`);
}

/** The clause that a click on a facet changes: the field's first that is not negated. */
function clauseOf(query: string, field: string): Clause | undefined {
  return parse(query).clauses.find(clause => clause.field === field && !clause.negated);
}

export function hasValue(query: string, field: string, value: string): boolean {
  return clauseOf(query, field)?.values.some(one => one.text === value) ?? false;
}

/** Adds the value to the field's clause, or takes it away when it is there. */
export function toggle(query: string, field: string, value: string): string {
  const clause = clauseOf(query, field);
  if (!clause) return withClause(query, `${field}:${quote(value)}`);
  const kept = clause.values.filter(one => one.text !== value);
  if (kept.length === 0) return without(query, clause);
  const texts = kept.map(one => query.slice(one.start, one.end));
  if (kept.length === clause.values.length) texts.push(quote(value));
  return tidy(`${query.slice(0, clause.start)} ${field}:${texts.join(',')} ${query.slice(clause.end)}`);
}

/** Without every clause of that field: what the field's own facet counts over. */
export function withoutField(query: string, field: string): string {
  let rest = query;
  for (;;) {
    const clause = parse(rest).clauses.find(one => one.field === field);
    if (!clause) return rest;
    rest = without(rest, clause);
  }
}

/** Whether counters answer it: nothing is looked through. */
export function isCounted(query: string): boolean {
  return parse(query).clauses.every(clause => ['state', 'queue', 'type'].includes(clause.field) && clause.values.every(value => !/[*~]/.test(value.text)));
}

/** Whether a task in this state would still be found, as far as the states go. */
export function fitsState(query: string, state: string): boolean {
  return parse(query).clauses.every(clause => clause.field !== 'state' || clause.values.some(value => value.text === state) !== clause.negated);
}

export interface Typing {
  is: 'field' | 'value';
  /** The part that a suggestion replaces. */
  start: number;
  end: number;
  typed: string;
  field: string;
}
/** What somebody is writing where the caret stands. */
export function typingAt(query: string, caret: number): Typing {
  const text = plain(query);
  const clause = parse(query).clauses.find(one => one.start <= caret && caret <= one.end);
  if (!clause) return { is: 'field', start: caret, end: caret, typed: '', field: '' };
  const from = clause.start + (clause.negated ? 1 : 0);
  if (clause.field === '' || caret <= from + clause.field.length) {
    return { is: 'field', start: from, end: clause.end, typed: text.slice(from, caret), field: '' };
  }
  const value = clause.values.find(one => one.start <= caret && caret <= one.end) ?? clause.values.at(-1)!;
  return { is: 'value', start: value.start, end: value.end, typed: text.slice(value.start, caret).replaceAll('"', ''), field: clause.field };
}
