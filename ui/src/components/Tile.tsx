// One number that leads to the list which proves it.
import type { ComponentChildren } from 'preact';
import { Sparkline } from './Sparkline';

export function Tile({ label, value, sub, href, tone, line }: {
  label: string;
  value: ComponentChildren;
  sub?: ComponentChildren;
  href: string;
  tone?: 'bad' | 'warn' | undefined;
  line?: readonly number[] | undefined;
}) {
  return (
    <li>
      <a class={`tile ${tone ?? ''}`} href={href}>
        <span class="tile-label">{label}</span>
        <span class="tile-value">{value}</span>
        <span class="tile-sub">{sub}</span>
        {line && <Sparkline values={line} />}
      </a>
    </li>
  );
}

/** `short`: its values are, and more of them fit beside each other. */
export function Tiles({ label, children, short = false }: { label: string; children: ComponentChildren; short?: boolean }) {
  return <ul class={short ? 'tiles short' : 'tiles'} aria-label={label}>{children}</ul>;
}
