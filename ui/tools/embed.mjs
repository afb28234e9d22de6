// Writes the built dashboard as one C++ source: node embed.mjs DIST OUT.cpp
//
// Every file is kept compressed only. A name with a hash in it never changes what it means: browsers may keep it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

const [, , dist, out] = process.argv;
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath ?? entry.path, entry.name))
  .sort();

function literal(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 32) {
    lines.push(`"${[...bytes.subarray(at, at + 32)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`);
  }
  return lines.join('\n');
}

const rows = files.map((file, n) => {
  const path = relative(dist, file);
  const type = TYPES[extname(file)];
  if (!type) throw new Error(`${path}: no type is known for ${extname(file)}`);
  const raw = readFileSync(file);
  const packed = gzipSync(raw, { level: 9 });
  const etag = createHash('sha256').update(raw).digest('hex').slice(0, 16);
  const immutable = /^assets\/.*-[\w-]{8}\.\w+$/.test(path);
  return {
    data: `constexpr char kFile${n}[] =\n${literal(packed)};\n`,
    row: `    {"/${path}", "${type}", "\\"${etag}\\"", {kFile${n}, ${packed.length}}, ${raw.length}, ${immutable}},`,
  };
});

writeFileSync(
  out,
  `#include "http/dashboard.h"

#pragma clang diagnostic ignored "-Woverlength-strings"

namespace holdfast::http {
namespace {

${rows.map(row => row.data).join('')}
constexpr DashboardFile kFiles[] = {
${rows.map(row => row.row).join('\n')}
};

}  // namespace

std::span<const DashboardFile> dashboard_files() {
    return kFiles;
}

}  // namespace holdfast::http
`,
);
