// The search box: what is being written, what could come next, what is wrong and where.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../lib/api';
import { FIELDS, parse, placeOf, quote, typingAt, without, type Mistake } from '../lib/filter';
import { number } from '../lib/format';
import { t, word, type Key } from '../lib/i18n';
import type { Facets } from '../lib/types';
import { Icon } from './basics';

interface Suggestion {
  /** What takes the place of what is being written. */
  text: string;
  shown: string;
  says: string;
  start: number;
  end: number;
}

const MOST = 12;

function fieldsFor(typed: string, start: number, end: number): Suggestion[] {
  return FIELDS.filter(field => field.name.startsWith(typed.toLowerCase()) || (typed.length > 2 && t(field.says).includes(typed))).map(field => ({
    text: field.name.endsWith('.') ? field.name : `${field.name}:`,
    shown: field.name,
    says: t(field.says),
    start,
    end,
  }));
}

/** Fields first, then their values with their counts. */
export function suggestions(query: string, caret: number, facets: Facets | undefined): Suggestion[] {
  const typing = typingAt(query, caret);
  if (typing.is === 'field') return fieldsFor(typing.typed, typing.start, typing.end).slice(0, MOST);
  const field = FIELDS.find(one => one.name === typing.field);
  const counted = facets?.facets[typing.field as 'state'] ?? [];
  const typed = typing.typed.toLowerCase();
  const values = counted
    .map(one => ({ text: quote(one.value), shown: one.value, says: typing.field === 'state' ? `${word('state', one.value)} · ${number(one.count)}` : number(one.count) }))
    .concat((field?.examples ?? []).map(value => ({ text: value, shown: value, says: '' })));
  return values
    .filter(one => one.shown.toLowerCase().includes(typed) && one.shown.toLowerCase() !== typed)
    .map(one => ({ ...one, start: typing.start, end: typing.end }))
    .slice(0, MOST);
}

function mistakeText(mistake: Mistake): string {
  const text = mistake.is === 'field' ? t('filter.no_field', { name: mistake.wrote })
    : mistake.is === 'state' ? t('filter.no_state', { name: mistake.wrote })
    : mistake.is === 'quote' ? t('filter.open_quote')
    : t('filter.no_value', { name: mistake.wrote });
  return mistake.meant ? `${text} ${t('filter.meant', { name: mistake.meant })}` : text;
}

/** In the words of the page where it knows the mistake, else in the server's. */
function errorText(query: string, position: number, error: ApiError): string {
  const { mistake } = parse(query);
  return mistake?.position === position ? mistakeText(mistake) : error.detail.replace(/^q: /, '');
}

/** The query with a mark under the word. */
function Pointing({ query, position, text }: { query: string; position: number; text: string }) {
  const at = Math.max(0, Math.min(position, query.length));
  const marked = /^[^\s:：,，]+/.exec(query.slice(at))?.[0] ?? query[at] ?? ' ';
  return (
    <div class="filter-mistake" role="alert">
      <code>{query.slice(0, at)}<mark>{marked}</mark>{query.slice(at + marked.length)}</code>
      <span>{text}</span>
    </div>
  );
}

export function FilterBar({ query, onQuery, facets, error, inputId, hint = 'filter.placeholder' }: { query: string; onQuery(query: string): void; facets: Facets | undefined; error: ApiError | undefined; inputId?: string; hint?: Key }) {
  const [text, setText] = useState(query);
  const [caret, setCaret] = useState(-1);
  const [active, setActive] = useState(-1);
  const [composing, setComposing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => setText(query), [query]);

  const open = caret >= 0 && !composing;
  const offers = open ? suggestions(text, caret, facets) : [];
  // What was searched for is the server's to judge. Before that we say what we think, but not of what is being written.
  const { clauses, mistake: found } = parse(text);
  const writing = clauses.find(clause => clause.start <= caret && caret <= clause.end);
  const mistake = text === query || !found || (writing && writing.start <= found.position && found.position <= writing.end) ? undefined : found;
  const write = (next: string, at: number) => {
    setText(next);
    setCaret(at);
    setActive(-1);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(at, at);
    });
  };
  const take = (offer: Suggestion) => {
    const whole = offer.text.endsWith(':') || offer.text.endsWith('.') ? offer.text : `${offer.text} `;
    const rest = text.slice(offer.end).trimStart();
    write(text.slice(0, offer.start) + whole + rest, offer.start + whole.length);
  };
  const search = (next = text) => {
    setCaret(-1);
    setActive(-1);
    onQuery(next.trim());
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (caret < 0) setCaret(input.current!.selectionStart ?? text.length);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const to = active + step;
      setActive(to < -1 ? offers.length - 1 : to >= offers.length ? -1 : to);
      event.preventDefault();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (active >= 0 && offers[active]) take(offers[active]);
      else search();
    } else if (event.key === 'Tab' && active >= 0 && offers[active]) {
      event.preventDefault();
      take(offers[active]);
    } else if (event.key === 'Escape') {
      if (caret >= 0) {
        setCaret(-1);
        setActive(-1);
      } else {
        input.current?.blur();
      }
    }
  };
  const look = () => setCaret(input.current?.selectionStart ?? text.length);
  return (
    <div class="filter">
      <form class="filter-line" role="search" onSubmit={event => {
        event.preventDefault();
        search();
      }}>
        <div class="filter-box">
          <Icon name="search" />
          <input
            ref={input}
            id={inputId}
            type="text"
            role="combobox"
            aria-expanded={offers.length > 0}
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={active >= 0 ? `${list}-${active}` : undefined}
            aria-invalid={error?.field === 'q' || mistake !== undefined}
            aria-label={t('filter.label')}
            placeholder={t(hint)}
            value={text}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            onInput={event => {
              setText(event.currentTarget.value);
              setActive(-1);
              if (!composing) look();
            }}
            onCompositionStart={() => setComposing(true)}
            onCompositionEnd={() => {
              setComposing(false);
              look();
            }}
            onClick={look}
            onKeyDown={onKey}
            onBlur={() => setCaret(-1)}
          />
          {text !== '' && (
            <button type="button" class="quiet" title={t('filter.clear')} onClick={() => {
              setText('');
              search('');
            }}><Icon name="close" /><span class="sr">{t('filter.clear')}</span></button>
          )}
          <ul id={list} class="offers" role="listbox" aria-label={t('filter.offers')} hidden={offers.length === 0}>
            {offers.map((offer, at) => (
              <li id={`${list}-${at}`} role="option" aria-selected={at === active} onPointerDown={event => {
                event.preventDefault();
                take(offer);
              }}>
                <code>{offer.shown}</code>
                <span class="muted">{offer.says}</span>
              </li>
            ))}
          </ul>
        </div>
        <button type="submit">{t('filter.search')}</button>
      </form>
      {error?.field === 'q' && text === query && <Pointing query={query} position={placeOf(query, error.position ?? 0)} text={errorText(query, placeOf(query, error.position ?? 0), error)} />}
      {mistake && <Pointing query={text} position={mistake.position} text={mistakeText(mistake)} />}
      <Chips query={query} onQuery={onQuery} />
    </div>
  );
}

function Chips({ query, onQuery }: { query: string; onQuery(query: string): void }) {
  const { clauses } = parse(query);
  if (clauses.length === 0) return null;
  return (
    <ul class="chips" aria-label={t('filter.clauses')}>
      {clauses.map(clause => {
        const text = query.slice(clause.start, clause.end);
        return (
          <li class={clause.negated ? 'chip not' : 'chip'}>
            {clause.field !== '' && <b>{`${clause.negated ? '-' : ''}${clause.field}:`}</b>}
            <span>{clause.field === '' ? text : clause.values.map(value => query.slice(value.start, value.end)).join(', ')}</span>
            <button type="button" class="quiet" title={t('filter.drop', { clause: text })} onClick={() => onQuery(without(query, clause))}>
              <Icon name="close" /><span class="sr">{t('filter.drop', { clause: text })}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
