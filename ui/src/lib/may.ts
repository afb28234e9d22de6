// Whether this page may change anything. The server refuses in any case; the page says so before.
import { readiness } from '../app';
import { t } from './i18n';

/** For a button that acts: what makes it unusable, and why. */
export function held(): { disabled?: boolean; title?: string } {
  return readiness.value?.read_only ? { disabled: true, title: t('act.read_only') } : {};
}
export function isReadOnly(): boolean {
  return readiness.value?.read_only === true;
}
