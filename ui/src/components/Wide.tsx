// A table that may be wider than the screen: it moves by itself, also by keyboard.
import type { ComponentChildren } from 'preact';

export function Wide({ label, children, class: name = '' }: { label: string; children: ComponentChildren; class?: string }) {
  return <div class={`scroll-x ${name}`} tabIndex={0} role="region" aria-label={label}>{children}</div>;
}
