// Holds the built dashboard to its size: node size.mjs DIST. Sizes are gzip's, as browsers fetch them.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMITS = { 'JS before the first paint': 45, 'all JS': 120, CSS: 12 };
const dist = process.argv[2];
const assets = join(dist, 'assets');
const kilobytes = name => gzipSync(readFileSync(join(assets, name)), { level: 9 }).length / 1000;
const sum = names => names.reduce((total, name) => total + kilobytes(name), 0);

const files = readdirSync(assets);
const scripts = files.filter(name => extname(name) === '.js');
const text = name => readFileSync(join(assets, name), 'utf8');

/** The script and what it cannot begin without. */
function needed(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other] of text(name).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) needed(other, found);
  return found;
}

// Nothing is painted before the entry, one language and the page itself are there: the dearest page and language count.
const [, entry] = /src="[^"]*assets\/([\w.-]+\.js)"/.exec(readFileSync(join(dist, 'index.html'), 'utf8'));
const shell = needed(entry);
const later = name => sum([...needed(name)].filter(one => !shell.has(one)));
const named = pattern => scripts.filter(name => pattern.test(name));
const dearest = names => Math.max(0, ...names.map(later));
const pages = named(/^[A-Z]/).filter(name => !/^(TimeChart|uPlot)/.test(name));
const first = sum([...shell]) + dearest(named(/^(en|zh)-/)) + dearest(pages);

const sizes = { 'JS before the first paint': first, 'all JS': sum(scripts), CSS: sum(files.filter(name => extname(name) === '.css')) };
let failed = false;
for (const [what, size] of Object.entries(sizes)) {
  const over = size > LIMITS[what];
  failed ||= over;
  console.log(`${what.padEnd(28)} ${size.toFixed(1).padStart(6)} KB of ${LIMITS[what]}${over ? '   TOO LARGE' : ''}`);
}
process.exit(failed ? 1 : 0);
