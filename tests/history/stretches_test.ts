import { ParseQueue } from "../../middleware/parse_queue.ts";
import { ARRAYS, FIELDS } from "../../schema/product.ts";
import type { Field, Fields } from "../../schema/fields.ts";
import { fieldsOfEntry } from "../../schema/bodies.ts";
import { ProductState } from "../../features/history/db/state.ts";
import { jsonPieces } from "../../schema/json_pieces.ts";
import { inTurns } from "../../schema/turns.ts";
import { MAX_PRODUCT_BYTES } from "../../db/sizes.ts";
import { assertStretches } from "../support/app/stretches.ts";

/*
 * No versions make other requests wait while they are compared, whatever they hold: the largest
 * products, as a row for each array alone, and one with all of them.
 */

const CALLER = { organizationId: "an organization", name: "a key" };

/** How the values of an entry are made: other ones for another seed. */
interface Making {
  seed: string;
  /** The characters of a text. */
  length: number;
  hasIds: boolean;
}

function valueOf(field: Field, name: string, making: Making): unknown {
  switch (field.kind) {
    case "column":
      if (name === "id" || field.refers) return crypto.randomUUID();
      return /amount|price|percent|value$/.test(name)
        ? JSON.rawJSON(`${making.seed.length}23456789012.1234`)
        : `${making.seed}${'a"é'.repeat(making.length / 3)}`;
    case "group":
      return objectOf(field.fields, making);
    case "list":
      return Array.from({ length: 50 }, (_, i) => `${making.seed}${i}`);
    case "values":
    case "rows":
      return [];
    default:
      return null;
  }
}

function objectOf(fields: Fields, making: Making): Record<string, unknown> {
  return {
    ...making.hasIds && { id: crypto.randomUUID() },
    ...Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, valueOf(field, name, making)]),
    ),
  };
}

/** An array of 500 entries, each with an array of its own below, and so on, of so many bytes. */
function arrayOf(field: Field, bytes: number, making: Making): unknown[] {
  if (field.kind === "list") return valueOf(field, "", making) as unknown[];
  if (field.kind !== "rows" && field.kind !== "values") return [];
  const types = field.kind === "rows" && field.types ? Object.keys(field.types) : [undefined];
  const entries: unknown[] = [];
  let left = bytes;
  for (let i = 0; i < 500 && left > 0; i++) {
    const type = types[i % types.length];
    const shape = type ? { [discriminator(field.fields)]: type } : {};
    const fields = fieldsOfEntry(field, shape);
    const entry: Record<string, unknown> = {
      ...objectOf(fields, { ...making, seed: `${making.seed}${i % 7} ` }),
      ...shape,
    };
    for (const [name, below] of arraysIn(fields)) {
      const holder = name.includes(".") ? entry[name.split(".")[0]!] as typeof entry : entry;
      holder[name.split(".").at(-1)!] = arrayOf(below, left / 2, making);
    }
    left -= JSON.stringify(entry).length;
    entries.push(entry);
  }
  return entries;
}

function discriminator(fields: Fields): string {
  return Object.keys(fields)[0]!;
}

function arraysIn(fields: Fields): [string, Field][] {
  return Object.entries(fields).flatMap(([name, field]): [string, Field][] =>
    field.kind === "group"
      ? arraysIn(field.fields).map(([below, array]) => [`${name}.${below}`, array])
      : ["rows", "values", "list"].includes(field.kind)
      ? [[name, field]]
      : []
  );
}

/** The two parts of a version. */
type Parts = ConstructorParameters<typeof ProductState>;

/** A version whose details have the largest size, in these arrays. */
function versionOf(names: readonly string[], making: Making): Parts {
  const summary = objectOf(
    Object.fromEntries(Object.entries(FIELDS).filter(([name]) => !(name in ARRAYS))),
    { ...making, length: 2_000 },
  );
  const textOf = (value: object) => JSON.stringify(value).slice(1, -1);
  for (let bytes = MAX_PRODUCT_BYTES / names.length;; bytes *= 0.8) {
    const arrays = names.map((name) => [name, arrayOf(FIELDS[name]!, bytes, making)]);
    const details = textOf(Object.fromEntries(arrays));
    if (details.length <= MAX_PRODUCT_BYTES) return [textOf(summary), details];
  }
}

const INPUTS: [what: string, names: readonly string[]][] = [
  ...Object.keys(ARRAYS).map((name): [string, string[]] => [name, [name]]),
  ["all arrays", Object.keys(ARRAYS)],
];

/** Many short values whose entries are matched by content, and long texts that are matched by id. */
const MAKINGS: [what: string, making: Omit<Making, "seed">][] = [
  ["short texts", { length: 3, hasIds: false }],
  ["long texts", { length: 6_000, hasIds: true }],
];

for (const [what, names] of INPUTS) {
  for (const [texts, making] of MAKINGS) {
    Deno.test(`Versions are compared in turns: ${what}, ${texts}`, async () => {
      const before = versionOf(names, { ...making, seed: "A" });
      const after = versionOf(names, { ...making, seed: "AB" });
      await assertStretches(`${what}, ${texts}`, async () => {
        const pace = new ParseQueue().pacer(CALLER);
        const states = [new ProductState(...before), new ProductState(...after)] as const;
        await inTurns(jsonPieces(await ProductState.changes(...states, pace)), pace);
      });
    });
  }
}
