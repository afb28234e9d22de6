// JSON as it was sent. Numbers of more digits than a double has, and the order of keys, survive: what is shown, copied
// and sent back is the text itself, put on lines.

export class JsonMistake extends Error {
  constructor(readonly at: number, readonly line: number, readonly column: number) {
    super(`line ${line}, column ${column}`);
  }
}

type Kind = 'key' | 'text' | 'number' | 'word' | 'sign' | 'blank';
export interface Piece {
  is: Kind;
  text: string;
}

const TOKEN = /\s+|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y;

function mistake(text: string, at: number): JsonMistake {
  const before = text.slice(0, at).split('\n');
  return new JsonMistake(at, before.length, before.at(-1)!.length + 1);
}

interface Token {
  at: number;
  text: string;
}
function* tokens(text: string): Generator<Token> {
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) throw mistake(text, at);
    if (!/^\s/.test(found[0])) yield { at, text: found[0] };
    at = TOKEN.lastIndex;
  }
}

/** Where the first mistake is; undefined when it is JSON. */
export function check(text: string): JsonMistake | undefined {
  try {
    let depth: string[] = [];
    let wants: 'value' | 'key' | 'colon' | 'next' | 'nothing' = 'value';
    let empty = false;
    for (const { at, text: sign } of tokens(text)) {
      const bad = () => mistake(text, at);
      if (wants === 'nothing') throw bad();
      if (sign === '}' || sign === ']') {
        if (depth.at(-1) !== (sign === '}' ? '{' : '[') || (wants !== 'next' && !empty)) throw bad();
        depth = depth.slice(0, -1);
        wants = depth.length > 0 ? 'next' : 'nothing';
        empty = false;
        continue;
      }
      empty = false;
      if (wants === 'key') {
        if (!sign.startsWith('"')) throw bad();
        wants = 'colon';
      } else if (wants === 'colon') {
        if (sign !== ':') throw bad();
        wants = 'value';
      } else if (wants === 'next') {
        if (sign !== ',') throw bad();
        wants = depth.at(-1) === '{' ? 'key' : 'value';
      } else if (sign === '{' || sign === '[') {
        depth.push(sign);
        wants = sign === '{' ? 'key' : 'value';
        empty = true;
      } else if (sign === ',' || sign === ':') {
        throw bad();
      } else {
        wants = depth.length > 0 ? 'next' : 'nothing';
      }
    }
    if (wants !== 'nothing') throw mistake(text, text.length);
    return undefined;
  } catch (error) {
    if (error instanceof JsonMistake) return error;
    throw error;
  }
}

/** One value to a line, two blanks a level. The text must be JSON. */
export function pretty(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let before = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const { text: sign } of tokens(text)) {
    if (sign === '}' || sign === ']') {
      depth--;
      if (before !== '{' && before !== '[') out.push(line());
      out.push(sign);
    } else {
      if (before === '{' || before === '[') out.push(line());
      if (sign === ',') out.push(',', line());
      else if (sign === ':') out.push(': ');
      else out.push(sign);
      if (sign === '{' || sign === '[') depth++;
    }
    before = sign;
  }
  return out.join('');
}

/** Without blanks between its parts: what is sent and kept. */
export function compact(text: string): string {
  return Array.from(tokens(text), token => token.text).join('');
}

/** The members of an object, each as its own text. */
export function members(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let key = '';
  let from = -1;
  const close = (end: number) => {
    if (from >= 0) found.set(key, text.slice(from, end).trim());
    from = -1;
  };
  let last = '';
  for (const { at, text: sign } of tokens(text)) {
    if (sign === '}' || sign === ']') {
      depth--;
      if (depth === 0) close(at);
    } else if (depth === 1 && sign === ',') {
      close(at);
    } else if (depth === 1 && sign === ':' && from < 0) {
      key = JSON.parse(last) as string;
      from = at + 1;
    } else if (sign === '{' || sign === '[') {
      depth++;
    }
    last = sign;
  }
  return found;
}

/** The elements of an array, each as its own text. */
export function elements(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = -1;
  const close = (end: number) => {
    const part = text.slice(from, end).trim();
    if (part !== '') found.push(part);
    from = end + 1;
  };
  for (const { at, text: sign } of tokens(text)) {
    if (sign === '[' || sign === '{') {
      if (depth++ === 0) from = at + 1;
    } else if (sign === ']' || sign === '}') {
      if (--depth === 0) close(at);
    } else if (sign === ',' && depth === 1) {
      close(at);
    }
  }
  return found;
}

/** For colours: the text in pieces. Stops quietly where a text was cut. */
export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) {
      out.push({ is: 'text', text: text.slice(at) });
      break;
    }
    at = TOKEN.lastIndex;
    const sign = found[0];
    const is: Kind = /^\s/.test(sign) ? 'blank' : sign.startsWith('"') ? (/^\s*:/.test(text.slice(at, at + 8)) ? 'key' : 'text') : /^[-\d]/.test(sign) ? 'number' : /^[tfn]/.test(sign) ? 'word' : 'sign';
    const last = out.at(-1);
    if (last && (last.is === is || is === 'blank')) last.text += sign;
    else out.push({ is, text: sign });
  }
  return out;
}
