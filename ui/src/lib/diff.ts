// Two texts, line by line: what stayed, what went, what came.

export interface DiffLine {
  is: 'same' | 'gone' | 'new';
  text: string;
}

/** Beyond so many comparisons what differs is shown as replaced whole. */
const MOST_COMPARED = 4_000_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (text: string): DiffLine => ({ is: 'same', text });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function middle(a: string[], b: string[]): DiffLine[] {
  const gone = (text: string): DiffLine => ({ is: 'gone', text });
  const fresh = (text: string): DiffLine => ({ is: 'new', text });
  if (a.length * b.length > MOST_COMPARED) return [...a.map(gone), ...b.map(fresh)];
  // common[i][j]: the longest common part of a from i and b from j.
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ is: 'same', text: a[i]! });
      i++;
      j++;
    } else if (j === b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      out.push(gone(a[i++]!));
    } else {
      out.push(fresh(b[j++]!));
    }
  }
  return out;
}

/** Only what changed, with `around` lines about it; null stands for lines left out. */
export function changedParts(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const near = lines.map(() => false);
  lines.forEach((line, at) => {
    if (line.is === 'same') return;
    for (let i = Math.max(0, at - around); i <= Math.min(lines.length - 1, at + around); i++) near[i] = true;
  });
  const out: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    if (near[at]) out.push(line);
    else if (out.at(-1) !== null) out.push(null);
  });
  return out;
}
