// Times, durations and numbers as people read them, in the chosen language and zone.
import { grouped, locale } from './i18n';
import { zone } from './settings';

const cache = new Map<string, Intl.DateTimeFormat>();
function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale()}|${zone.value}|${JSON.stringify(options)}`;
  let made = cache.get(key);
  if (!made) {
    const timeZone = zone.value === 'local' ? undefined : zone.value;
    try {
      made = new Intl.DateTimeFormat(locale(), { ...options, ...(timeZone ? { timeZone } : {}) });
    } catch {
      made = new Intl.DateTimeFormat(locale(), options); // a zone that this browser does not know
    }
    cache.set(key, made);
  }
  return made;
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const DAY = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;

/** 14:02:11, and the day before it when it is not today's. */
export function shortTime(at: string | number): string {
  const date = new Date(at);
  const day = formatter(DAY).format(date);
  const clock = formatter(CLOCK).format(date);
  return day === formatter(DAY).format(new Date()) ? clock : `${day} ${clock}`;
}

/** All of it, with milliseconds and the zone. */
export function fullTime(at: string | number): string {
  return formatter({ ...DAY, ...CLOCK, fractionalSecondDigits: 3, timeZoneName: 'short' }).format(new Date(at));
}

export function clockTime(at: number, seconds: boolean): string {
  return formatter(seconds ? CLOCK : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(at));
}

/** 480 → UTC+8, -210 → UTC-3:30 */
function offsetText(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

/** What a zone is ahead of UTC at that moment; '' for one that this browser does not know. */
export function offsetOf(name: string, at: Date): string {
  if (name === 'UTC') return 'UTC';
  if (name === 'local') return offsetText(-at.getTimezoneOffset()); // the first paint waits for no formatter
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset', timeZone: name }).formatToParts(at);
    return parts.find(part => part.type === 'timeZoneName')?.value.replace('GMT', 'UTC') ?? '';
  } catch {
    return '';
  }
}

/** The chosen zone as the top bar shows it: UTC+8. A zone that this browser does not know is shown as the local one. */
export function zoneName(): string {
  return offsetOf(zone.value, new Date()) || offsetOf('local', new Date());
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** 850 ms → "850ms", 41 000 → "41s", 250 000 → "4m 10s": at most two units. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  const sign = ms < 0 ? '-' : '';
  const value = Math.abs(ms);
  if (value < 1_000) return `${sign}${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)}ms`;
  if (value < 10_000) return `${sign}${(Math.floor(value / 100) / 10).toString()}s`;
  const largest = UNITS.findIndex(([unit]) => value >= unit);
  const [unit, name] = UNITS[largest]!;
  const whole = Math.floor(value / unit);
  const smaller = UNITS[largest + 1];
  const rest = smaller ? Math.floor((value - whole * unit) / smaller[0]) : 0;
  return `${sign}${whole}${name}${smaller && rest > 0 ? ` ${rest}${smaller[1]}` : ''}`;
}

const numbers = new Map<string, Intl.NumberFormat>();
/** Making a formatter costs more than all it formats. */
function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale()}|${JSON.stringify(options)}`;
  let made = numbers.get(key);
  if (!made) numbers.set(key, (made = new Intl.NumberFormat(locale(), options)));
  return made;
}

export { grouped as number };

/** 1 234 567 → 1.2M (123万 in Chinese): for tiles, where the whole number is in the title. */
export function shortNumber(n: number): string {
  return n < 10_000 ? grouped(n) : numberFormat({ notation: 'compact', maximumFractionDigits: 1 }).format(n);
}

/** 0.4, 12, 1 200: tasks per second. */
export function rate(perSecond: number): string {
  return numberFormat({ maximumFractionDigits: perSecond < 10 ? 1 : 0 }).format(perSecond);
}

export function percent(share: number): string {
  return numberFormat({ style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share);
}

export function bytes(n: number): string {
  if (n < 1024) return `${grouped(n)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = n;
  let at = -1;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at++;
  }
  return `${numberFormat({ maximumFractionDigits: 1 }).format(value)} ${units[at]}`;
}

/** The end of an id tells tasks apart, its beginning is a time: "…5e3f a0c2". */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}

/** "30s", "2h30m", "250ms" → ms; NaN when it is none. */
export function parseDuration(text: string): number {
  const scale: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  let rest = text.trim();
  if (rest === '') return Number.NaN;
  let total = 0;
  while (rest !== '') {
    const match = /^(\d+(?:\.\d+)?)(ms|d|h|m|s)/.exec(rest);
    if (!match) return Number.NaN;
    total += Number(match[1]) * scale[match[2]!]!;
    rest = rest.slice(match[0].length);
  }
  return total;
}
