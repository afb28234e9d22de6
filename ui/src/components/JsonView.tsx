// JSON as it was sent, on lines and in colours. Of a long one the beginning is shown; copying and downloading give all.
import { useMemo } from 'preact/hooks';
import { bytes } from '../lib/format';
import { t } from '../lib/i18n';
import { pieces, pretty } from '../lib/json';
import { changedParts, diffLines } from '../lib/diff';
import { CopyButton, Icon } from './basics';

const SHOWN = 64 * 1024;
/** Longer texts are not coloured: every piece is an element. */
const COLOURED = 24 * 1024;

function download(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function JsonView({ text, name }: { text: string; name: string }) {
  // A page is drawn every second or so; its JSON changes seldom and may be long.
  const lines = useMemo(() => pretty(text), [text]);
  const shown = lines.length > SHOWN ? lines.slice(0, SHOWN) : lines;
  const drawn = useMemo(() => (shown.length > COLOURED ? shown : pieces(shown).map(piece => (piece.is === 'sign' ? piece.text : <span class={`j-${piece.is}`}>{piece.text}</span>))), [shown]);
  return (
    <div class="json">
      <div class="json-bar">
        {shown !== lines && <span class="muted">{t('json.part', { part: bytes(SHOWN), whole: bytes(lines.length) })}</span>}
        <span class="spring" />
        <CopyButton text={lines} label={t('json.copy')} />
        <button type="button" class="quiet" onClick={() => download(lines, name)}><Icon name="download" />{t('json.download')}</button>
      </div>
      <pre tabIndex={0} aria-label={name}>{drawn}</pre>
    </div>
  );
}

export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => changedParts(diffLines(before, after)), [before, after]);
  const sign = { same: ' ', gone: '-', new: '+' };
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {lines.map(line => (line === null ? <div class="muted">{t('json.skipped')}</div> : <div class={`d-${line.is}`}>{`${sign[line.is]} ${line.text}`}</div>))}
    </pre>
  );
}
