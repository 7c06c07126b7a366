import { printable } from "./errors.ts";

/* Checks a JSON text before it is parsed: its depth, its size, and names that occur twice. */

interface ShapeLimits {
  depth: number;
  /** The number of array entries, names and values. */
  values: number;
}

/**
 * Returns the fault of a text, as the end of a sentence: it exceeds a limit, or an object contains
 * a name twice, which JSON readers interpret in different ways (RFC 8259, 4). Takes linear time.
 */
export function shapeFault(
  text: string,
  limits: ShapeLimits = { depth: Infinity, values: Infinity },
): string | undefined {
  let depth = 0;
  let values = 1;
  let isInString = false;
  let start = 0;
  let last = "";
  /** The names of each open object. Undefined for an array. */
  const names: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === "\\") i++;
      else if (character === '"') {
        isInString = false;
        last = text.slice(start, i);
      }
    } else if (character === '"') {
      isInString = true;
      start = i + 1;
    } else if (character === ",") {
      values++;
    } else if (character === ":") {
      values++;
      const known = names[depth - 1];
      const name = unescaped(last);
      if (known?.has(name)) {
        return `has the name "${printable(name)}" twice in one object`;
      }
      known?.add(name);
    } else if (character === "[" || character === "{") {
      if (++depth > limits.depth) {
        return `is nested more than ${limits.depth} levels deep`;
      }
      names[depth - 1] = character === "{" ? new Set() : undefined;
    } else if (character === "]" || character === "}") {
      depth--;
    }
  }
  if (values > limits.values) {
    return `has more than ${limits.values} names and values`;
  }
}

/** Decodes a name: `"a"` and `"\u0061"` are the same. */
function unescaped(source: string): string {
  if (!source.includes("\\")) return source;
  try {
    return JSON.parse(`"${source}"`);
  } catch {
    // The parser will refuse it.
    return source;
  }
}
