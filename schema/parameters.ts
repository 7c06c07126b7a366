import * as v from "valibot";
import { DateTime } from "./date_time.ts";
import { type ErrorDetail, invalid, MAX_ERRORS, printable, queryDetails } from "./errors.ts";
import { remembered } from "./objects.ts";
import { didYouMean, speller } from "./spelling.ts";
import { codePoints, heading, oneOf, Uuid } from "./values.ts";

/*
 * Queries, and the schemas of their parameters, which parse text into values.
 */

/** The schema of the parameters of a query. */
export type QuerySchema = v.GenericSchema & {
  readonly entries: Readonly<Record<string, v.GenericSchema>>;
};

/** The valid parameters of a query. */
export type QueryOf<S extends QuerySchema> = v.InferOutput<S>;

/** The maximum number of parameters: enough for several repeated lists of ids. */
const MAX_PARAMETERS = 1_000;

/**
 * Reads a query. A list may be one parameter with commas, several parameters, or both, as
 * generated clients send it. Throws `VALIDATION_ERROR` with a detail for every unknown,
 * repeated or invalid parameter.
 */
export function readQuery<const S extends QuerySchema>(
  parameters: S,
  url: URL,
): QueryOf<S> {
  // Counted in the text: `searchParams` takes milliseconds for thousands of parameters.
  if (url.search.split("&", MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    throw invalid("The query", [{
      parameter: "",
      code: "too_many",
      message: `At most ${MAX_PARAMETERS} parameters`,
    }]);
  }
  const details = encodingDetails(url.search);
  const near = speller(Object.keys(parameters.entries));
  const given = new Map<string, string>();
  for (const [parameter, value] of url.searchParams) {
    const known = Object.hasOwn(parameters.entries, parameter);
    if (known && !given.has(parameter)) given.set(parameter, value);
    else if (known && isList(parameters.entries[parameter]!)) {
      given.set(parameter, `${given.get(parameter)},${value}`);
    } else {
      details.push({
        parameter: printable(parameter),
        ...known ? { code: "duplicate", message: "This parameter occurs twice" } : {
          code: "unknown_parameter",
          message: `Unknown parameter${didYouMean(near(parameter))}`,
        },
      });
      if (details.length > MAX_ERRORS) break;
    }
  }
  const read = v.safeParse(parameters, {
    // Undefined values, so that each error names what is expected, instead of an absent key.
    ...REQUIRED(parameters),
    ...Object.fromEntries(given),
  });
  if (read.success && details.length === 0) return read.output;
  details.push(...queryDetails(read.issues ?? []));
  throw invalid("The query", details);
}

/** The parameters that a query must have, undefined. */
const REQUIRED = remembered(({ entries }: QuerySchema) =>
  Object.fromEntries(
    Object.entries(entries).filter(([, entry]) => isRequired(entry))
      .map(([name]) => [name, undefined]),
  )
);

/** Whether a query must have the parameter. */
export function isRequired(parameter: v.GenericSchema): boolean {
  const { pipe: [given] } = parameter as v.SchemaWithPipe<[v.GenericSchema]>;
  return given.type !== "optional";
}

/** Whether the values of an empty query are all undefined. */
export function isEmptyAllowed(parameters: QuerySchema): boolean {
  const read = v.safeParse(parameters, {});
  return read.success && Object.keys(read.output as object).length === 0;
}

/** Percent-encoded bytes in a row. A URL has no other characters outside ASCII. */
const ENCODED = /(?:%[\dA-Fa-f]{2})+/g;

/** A detail for every parameter that is not UTF-8, which `searchParams` would replace by U+FFFD. */
function encodingDetails(search: string): ErrorDetail[] {
  if (!/%[89A-Fa-f]/.test(search)) return [];
  return search.slice(1).split("&")
    .filter((pair) => !(pair.match(ENCODED) ?? []).every(isUtf8))
    .map((pair) => ({
      parameter: printable(pair.split("=", 1)[0]),
      code: "invalid_encoding",
      message: "Expected percent-encoded UTF-8",
    }));
}

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** Whether a parameter is a list. */
export function isList(parameter: v.GenericSchema): boolean {
  const inner = "pipe" in parameter
    ? (parameter as v.SchemaWithPipe<[v.GenericSchema]>).pipe[0]
    : parameter;
  return v.getMetadata(parameter).type === "array" ||
    "wrapped" in inner && isList(inner.wrapped as v.GenericSchema);
}

const MAX_IDS = 100;

const MAX_CODES = 100;

/** A whole number from 1 to `max`. */
export function wholeNumber(max = Infinity) {
  return v.pipe(
    v.string(),
    v.metadata({ type: "integer", minimum: 1 }),
    v.check(
      (digits) => /^[1-9]\d*$/.test(digits),
      "invalid_number: Expected a whole number from 1",
    ),
    v.transform(Number),
    v.maxValue(max, `out_of_range: At most ${max}`),
  );
}

/** The size of a page. A larger number counts as `max` (AIP-158). */
export function limit(max: number) {
  return v.pipe(wholeNumber(), v.transform((limit) => Math.min(limit, max)));
}

/** A search term, without surrounding white space. */
export const Term = v.pipe(
  v.string(),
  v.trim(),
  v.check(
    (term) => codePoints(term) <= 200,
    "too_long: At most 200 characters",
  ),
  v.check(
    (term) => !term.includes("\0"),
    "invalid_character: The character U+0000 cannot be searched for",
  ),
  v.metadata({ maxLength: 200 }),
);

/** Comma-separated UUIDs. */
export const Uuids = listed(
  Uuid,
  {
    items: { type: "string", format: "uuid" },
    maxItems: MAX_IDS,
  },
  "UUIDs",
  (list) => list.split(/, */),
);

/** Comma-separated codes, such as `example`, with optional spaces around them. */
export function codesLike(
  example: string,
  item: v.GenericSchema<string, string> = heading(200),
) {
  return listed(item, {
    items: { type: "string", maxLength: 200 },
    maxItems: MAX_CODES,
    examples: [[example]],
  }, "codes");
}

/** Comma-separated values, each one of `values`. */
export function choices<const T extends readonly string[]>(values: T) {
  return listed(oneOf(...values), {
    items: { type: "string", enum: [...values] },
  });
}

/** A list with commas. Duplicates are removed. */
function listed<const S extends v.GenericSchema<string, string>>(
  item: S,
  metadata: { items: object; maxItems?: number; examples?: string[][] },
  plural?: string,
  split = splitList,
) {
  const { maxItems = Infinity } = metadata;
  return v.pipe(
    v.string(),
    v.metadata({ type: "array", ...metadata }),
    v.transform(split),
    v.maxLength(maxItems, `too_many: At most ${maxItems} ${plural}`),
    v.array(item),
    v.transform((values) => [...new Set(values)]),
  );
}

/** A time. A client's unescaped `+` before the offset arrives as a space. */
export const Time = v.pipe(
  v.string(),
  v.examples(["2027-01-31T12:00:00Z"]),
  v.transform((text) => text.replace(/ (?=\d\d:\d\d$)/, "+")),
  DateTime,
);

/** Comma-separated names of embeds, with optional spaces around them. Empty means none. */
export function embeds<E extends string>(names: Record<string, E>) {
  const near = speller(Object.keys(names));
  const isKnown = (name: string) => Object.hasOwn(names, name);
  return v.pipe(
    v.string(),
    v.metadata({
      type: "array",
      items: { type: "string", enum: Object.keys(names) },
    }),
    v.transform((list) => list === "" ? [] : splitList(list)),
    v.check(
      (given) => given.every(isKnown),
      ({ input }) => {
        const unknown = input.find((name) => !isKnown(name))!;
        const list = `Expected a comma-separated list of ${Object.keys(names).join(", ")}`;
        return `invalid_value: ${list}${didYouMean(near(unknown))}`;
      },
    ),
    v.transform((given) => new Set(given.map((name) => names[name]!))),
  );
}

/** `trim` would also remove line breaks. The look-behind keeps a long run of spaces cheap. */
const SPACES = /^ +|(?<! ) +$/g;

function splitList(list: string): string[] {
  return list.split(",").map((name) => name.replace(SPACES, ""));
}

/** The query of an operation that has no parameters. */
export const NoParameters = v.object({});
