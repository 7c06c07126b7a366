import { assert, assertEquals } from "@std/assert";
import { IS_WHOLE } from "../support/app/sample.ts";

/*
 * Regular expressions that read callers' texts take linear time. V8 backtracks, so some take
 * quadratic time for a text that almost matches: `/<[^>]*>/g` reads the rest of `<<<<…` once for
 * each bracket, so 512 KiB of them would stop the service for minutes.
 *
 * The test finds the expressions in the sources and runs each against long runs of the characters
 * that it names. A text of this length takes a linear expression less than a millisecond, and a
 * quadratic one half a second, so a busy machine does not matter.
 */

const ROOT = new URL("../../", import.meta.url);

const FOLDERS = ["db", "features", "middleware", "routes", "schema"];

/** Characters of a text. Shorter ones come first: cubic and exponential time would not end with the longest. */
const SIZES = [32, 1_000, 20_000];

/** What no linear expression takes for these texts, in milliseconds. */
const SLOW_MS = 100;

Deno.test("Every regular expression takes linear time", async () => {
  const expressions = await findExpressions();
  assert(expressions.size > 200, `Only ${expressions.size} expressions are found`);

  const slow = [...expressions].flatMap(([text, { expression, file }]) => {
    const unit = slowUnit(expression);
    return unit === undefined ? [] : `${text} of ${file}, for ${JSON.stringify(unit)} repeated`;
  });

  assertEquals(slow, [], "Write them without two parts that can read the same characters");
});

/** What a text repeats that takes the expression more than linear time. */
function slowUnit(expression: RegExp): string | undefined {
  const characters = charactersOf(expression);
  // Pairs take six times as long.
  const some = characters.slice(0, IS_WHOLE ? 6 : 0);
  const pairs = some.flatMap((first) => some.map((second) => first + second));
  return [...characters, ...pairs].find((unit) =>
    SIZES.some((size) => {
      const run = unit.repeat(size / unit.length);
      return [`${run}\u0001`, `${characters[0]}${run}\u0001`].some((text) =>
        isSlow(expression, text)
      );
    })
  );
}

/** Measures again what seems slow: other processes may have run meanwhile. */
function isSlow(expression: RegExp, text: string): boolean {
  return [1, 2, 3].every(() => millisecondsOf(expression, text) > SLOW_MS);
}

function millisecondsOf(expression: RegExp, text: string): number {
  const start = performance.now();
  if (expression.global) text.replace(expression, "");
  else expression.test(text);
  return performance.now() - start;
}

/** Characters that the expression names, and some of each class that it may read. */
function charactersOf({ source }: RegExp): string[] {
  const named = source.replaceAll(/\\[a-zA-Z](?:\{[^{}]*\})?/g, "");
  return [...new Set([...named.replaceAll(/[\\^$*+?(){}|]/g, ""), "a", "0", " "])].slice(0, 16);
}

interface Found {
  expression: RegExp;
  file: string;
}

/** The expressions by their text: literals, and those that modules compose. */
async function findExpressions(): Promise<Map<string, Found>> {
  const Original = RegExp;
  const found = new Map<string, Found>();
  const add = (file: string, source: string, flags: string) => {
    const expression = new Original(source, flags.replace("d", ""));
    found.set(`/${source}/${flags}`, { expression, file });
  };
  const composing: string[] = [];
  for (const folder of FOLDERS) {
    for (const file of filesIn(`${folder}/`)) {
      const text = await Deno.readTextFile(new URL(file, ROOT));
      for (const literal of literalsIn(text)) {
        const end = literal.lastIndexOf("/");
        add(file, literal.slice(1, end), literal.slice(end + 1));
      }
      if (text.includes("new RegExp(")) composing.push(file);
    }
  }
  let file = "";
  globalThis.RegExp = new Proxy(RegExp, {
    construct(target, given: [string, string?]) {
      if (file) add(file, String(given[0]), given[1] ?? "");
      return Reflect.construct(target, given);
    },
  });
  try {
    for (file of composing) await import(`${new URL(file, ROOT)}?expressions`);
  } finally {
    globalThis.RegExp = Original;
  }
  return found;
}

function filesIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return filesIn(`${folder}${name}/`);
    return name.endsWith(".ts") ? `${folder}${name}` : [];
  });
}

/**
 * What a source has: comments, strings, parts of templates, regular expressions, and words. A
 * slash after one of these tokens begins an expression. After a value, it divides.
 */
const TOKENS =
  /\/\/.*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`|(?<=(?:^|[(,=:;!&|?{}[>]|\breturn|\bcase|\bof|\bin)\s*)\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*|[\w$]+/gm;

/** The regular expressions of a source, also in `${…}` of its templates. */
function literalsIn(text: string): string[] {
  return (text.match(TOKENS) ?? []).flatMap((token) => {
    if (token.startsWith("`")) {
      return [...token.matchAll(/\$\{([^]*?)\}/g)].flatMap(([, code]) => literalsIn(code!));
    }
    return token.startsWith("/") && !/^\/[/*]/.test(token) ? token : [];
  });
}
