// A dialog of the browser's own: it keeps the focus, Escape closes it, and the focus goes back where it was.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../lib/i18n';
import { question, type Question } from '../lib/notices';

export function Dialog({ title, onClose, children, wide = false }: { title: string; onClose(): void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : undefined}
      aria-labelledby={heading}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
      onClick={event => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

function Asked({ asked }: { asked: Question }) {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const ready = (asked.typed === undefined || typed.trim() === asked.typed) && (asked.reason !== 'required' || reason.trim() !== '');
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(undefined)}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (ready) asked.answer({ reason: reason.trim() });
        }}
      >
        {asked.body !== undefined && <div class="dialog-text">{asked.body}</div>}
        {asked.reason && (
          <label>
            {t('ask.reason')}
            <input value={reason} maxLength={1000} onInput={event => setReason(event.currentTarget.value)} />
          </label>
        )}
        {asked.typed !== undefined && (
          <label>
            {t('ask.type', { text: asked.typed })}
            <input value={typed} autocomplete="off" onInput={event => setTyped(event.currentTarget.value)} />
          </label>
        )}
        <div class="dialog-actions">
          <button type="button" onClick={() => asked.answer(undefined)}>{t('common.back')}</button>
          <button type="submit" class={asked.tone === 'bad' ? 'bad' : 'main'} disabled={!ready}>{asked.verb}</button>
        </div>
      </form>
    </Dialog>
  );
}

export function Asking() {
  const asked = question.value;
  return asked ? <Asked key={asked.title} asked={asked} /> : null;
}
