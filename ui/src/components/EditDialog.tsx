// Another payload for a task that waits: what is wrong is told by its line, what changes is shown, then it is resumed.
import { useState } from 'preact/hooks';
import { becameText } from '../lib/acts';
import { post, Written } from '../lib/api';
import { t } from '../lib/i18n';
import { check, compact, pretty } from '../lib/json';
import { attempt } from '../lib/notices';
import type { State } from '../lib/types';
import { Dialog } from './Dialog';
import { Diff } from './JsonView';

export function EditDialog({ id, payload, onClose, onDone }: { id: string; payload: string; onClose(): void; onDone(): void }) {
  const before = pretty(payload);
  const [text, setText] = useState(before);
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const wrong = check(text);
  const after = wrong ? '' : pretty(text);
  const send = async () => {
    setBusy(true);
    const body = new Written(`{${reason.trim() === '' ? '' : `"reason":${JSON.stringify(reason.trim())},`}"payload":${compact(text)}}`);
    const done = await attempt(() => post<{ id: string; state: State }>(`v1/tasks/${id}/resume`, body), becameText);
    setBusy(false);
    if (done) onDone();
  };
  return (
    <Dialog title={t('task.edit_title')} onClose={onClose} wide>
      <form onSubmit={event => {
        event.preventDefault();
        if (!wrong && !busy) void send();
      }}>
        <label>
          {t('task.payload')}
          <textarea rows={14} spellcheck={false} value={text} aria-invalid={wrong !== undefined} aria-describedby="edit-says" onInput={event => setText(event.currentTarget.value)} />
        </label>
        <p id="edit-says" role="status" class={wrong ? 'bad-text' : 'muted'}>
          {wrong ? t('task.edit_wrong', { line: wrong.line, column: wrong.column }) : after === before ? t('task.edit_same') : t('task.edit_says')}
        </p>
        {!wrong && after !== before && (
          <div>
            <h3>{t('task.edit_diff')}</h3>
            <Diff before={before} after={after} label={t('task.edit_diff')} />
          </div>
        )}
        <label>
          {t('ask.reason')}
          <input value={reason} maxLength={1000} onInput={event => setReason(event.currentTarget.value)} />
        </label>
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>{t('common.back')}</button>
          <button type="submit" class="main" disabled={wrong !== undefined || busy} aria-busy={busy}>{t('task.edit_do')}</button>
        </div>
      </form>
    </Dialog>
  );
}
