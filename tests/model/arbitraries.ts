import { fc } from "../support/app/packages.ts";
import type { Entry } from "./catalogue.ts";

/** An invalid value of a field. */
export interface Refused {
  refused: unknown;
  code: string;
}

export type Values = fc.Arbitrary<unknown>;

/** Mostly one of the values, rarely an invalid one. */
export function values(
  usual: unknown[],
  ...wrong: [unknown, string][]
): Values {
  return fc.oneof(
    { weight: 100, arbitrary: fc.constantFrom(...usual) },
    ...wrong.map(([refused, code]) => ({
      weight: 1,
      arbitrary: fc.constant({ refused, code }),
    })),
  );
}

/** Usually one of these records, rarely an unknown id. */
export function records(...names: unknown[]): Values {
  const theirs = String(names[0]).replace("@mine", "@theirs");
  return fc.oneof(
    { weight: 100, arbitrary: fc.constantFrom(...names) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(theirs, "@nobody", "@mine.program"),
    },
  );
}

/** An object with a subset of the fields. Each field is present in one of four cases. */
export function some(fields: Record<string, Values>): fc.Arbitrary<Entry> {
  const pairs = Object.entries(fields).map(([field, values]) =>
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: values.map((value) => [[field, value]]) },
    )
  );
  return fc.tuple(...pairs).map((pairs) => Object.fromEntries(pairs.flat()));
}

/** Both objects merged. */
export function joined(...parts: fc.Arbitrary<Entry>[]): fc.Arbitrary<Entry> {
  return fc.tuple(...parts).map((parts) => Object.assign({}, ...parts));
}

/** Up to four entries, rarely with duplicate `keys`. */
export function entries(entry: fc.Arbitrary<Entry>, ...keys: string[]) {
  const isSame = (a: Entry, b: Entry) =>
    keys.every((key) => a[key] !== undefined && a[key] === b[key]);
  return fc.oneof(
    {
      weight: 30,
      arbitrary: fc.uniqueArray(entry, { comparator: isSame, maxLength: 4 }),
    },
    { weight: 1, arbitrary: fc.array(entry, { maxLength: 4 }) },
  );
}

/** Mostly an empty object, rarely this one. */
export function seldom(body: Entry): fc.Arbitrary<Entry> {
  return fc.oneof(
    { weight: 50, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constant(body) },
  );
}
