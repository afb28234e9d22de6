// A box to type in and the list of what that may mean: the combobox with a listbox of the ARIA practices.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../lib/i18n';
import { Icon, type IconName } from './basics';

export interface Choice {
  id: string;
  text: string;
  hint?: ComponentChildren;
  icon?: IconName;
}

interface PickProps<T extends Choice> {
  label: string;
  placeholder?: string;
  typed: string;
  choices: readonly T[];
  /** The list is there only while somebody chooses; in a palette always. */
  open: boolean;
  current?: string;
  onType(text: string): void;
  onPick(choice: T): void;
  onFocus?(): void;
  onLeave?(): void;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

export function Pick<T extends Choice>({ label, placeholder, typed, choices, open, current, onType, onPick, onFocus, onLeave }: PickProps<T>) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const [at, setAt] = useState(0);
  useEffect(() => setAt(0), [typed, open]);
  const chosen = Math.min(at, choices.length - 1);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const shown = open && choices.length > 0;

  const key = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (!open) onFocus?.();
      else if (choices.length > 0) setAt(Math.abs(step) === 1 ? (chosen + step + choices.length) % choices.length : Math.max(0, Math.min(choices.length - 1, chosen + step)));
    } else if (event.key === 'Enter' && shown) {
      event.preventDefault();
      onPick(choices[chosen]!);
    } else if (event.key === 'Escape' && open && onLeave) {
      event.preventDefault();
      onLeave();
    }
  };
  return (
    <div class="pick">
      <input
        role="combobox" aria-label={label} aria-autocomplete="list" aria-expanded={shown} aria-controls={shown ? `${id}-list` : undefined}
        aria-activedescendant={shown ? `${id}-${chosen}` : undefined} autocomplete="off" spellcheck={false} placeholder={placeholder} value={typed}
        onInput={event => onType(event.currentTarget.value)} onKeyDown={key} onFocus={onFocus} onClick={onFocus} onBlur={onLeave}
      />
      {shown && (
        <ul ref={list} id={`${id}-list`} role="listbox" aria-label={label} class="pick-list">
          {choices.map((choice, n) => (
            // The pointer must not take the focus from the box.
            <li
              key={choice.id} id={`${id}-${n}`} role="option" aria-selected={n === chosen} class={choice.id === current ? 'current' : undefined}
              onPointerDown={event => event.preventDefault()} onPointerMove={() => n !== chosen && setAt(n)} onClick={() => onPick(choice)}
            >
              {choice.icon && <Icon name={choice.icon} />}
              <span class="pick-text">{choice.text}</span>
              {choice.hint !== undefined && <span class="pick-hint">{choice.hint}</span>}
            </li>
          ))}
        </ul>
      )}
      {open && choices.length === 0 && <p class="pick-none muted">{t('pick.none')}</p>}
      <span class="sr" role="status">{open ? t('pick.count', { n: choices.length }) : ''}</span>
    </div>
  );
}
