// The time zones that this browser knows, by all the names that people type.
import { rank } from './rank';

export interface Zone {
  id: string;
  text: string;
  also: string;
}

/** Zones by names that people type and browsers do not list. */
const ALSO: Readonly<Record<string, string>> = {
  'Asia/Shanghai': 'Beijing|China|北京|上海|中国', 'Asia/Hong_Kong': '香港', 'Asia/Taipei': '台北', 'Asia/Tokyo': '东京|Japan', 'Asia/Singapore': '新加坡',
  'America/New_York': 'Boston|Washington|EST|纽约', 'America/Los_Angeles': 'San Francisco|Seattle|PST|洛杉矶', 'Europe/London': 'GMT|BST|伦敦', 'Europe/Berlin': 'Frankfurt|CET|柏林', 'Asia/Kolkata': 'Delhi|Mumbai|Bangalore|IST|Calcutta',
};

export function knownZones(local: string, localText: string): Zone[] {
  const named = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
  return [
    { id: 'local', text: `${localText} (${local})`, also: 'local|browser' },
    { id: 'UTC', text: 'UTC', also: 'GMT|Z' },
    ...named.filter(name => name !== 'UTC').map(name => ({ id: name, text: name, also: [name.replaceAll('_', ' '), ALSO[name] ?? ''].filter(Boolean).join('|') })),
  ];
}

export function findZones(zones: readonly Zone[], typed: string, most: number): Zone[] {
  return rank(zones, typed.trim().replaceAll(' ', '_'), most).concat(typed.includes(' ') ? rank(zones, typed, most) : []).filter((zone, at, all) => all.indexOf(zone) === at).slice(0, most);
}
