import * as v from "valibot";
import {
  CreateProduct,
  givenValues,
  objectOf,
  pathBody,
} from "../../bodies.ts";
import {
  codeOf,
  type Column,
  elementOf,
  type Field,
  type Fields,
} from "../../fields.ts";
import {
  isObject,
  list,
  MAX_ENTRIES,
  object,
  objectsIn,
} from "../../objects.ts";
import { ARRAYS, FIELDS, SCALARS } from "../../product.ts";
import { composite } from "../rules/facts.ts";
import { isRight, limits } from "../rules/limits.ts";
import { RELEASES } from "../rules/releases.ts";
import { type Element, hasText } from "../xml/element.ts";
import { matches } from "../xml/fit.ts";
import { COLLECTION_FIELDS } from "./collections.ts";
import { CONTRIBUTOR_FIELDS } from "./contributors.ts";
import { codecOf } from "./fields.ts";
import {
  COLLATERAL_TYPES,
  coverOf,
  elementOfField,
  IDENTIFIERS,
  MAPPING,
  type RecordValues,
} from "./mapping.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * The values of a record that a product can have. In: what was read of it. Out: the values by
 * field, in the form in which the schemas of bodies return them. What those refuse stays in
 * the record alone, with a warning.
 */

/** The fields with which a record is rejected if they are wrong, with what then stands for them. */
const NEEDED = { title: "-", isbn13: null, isbn10: null };

const name = COLLECTION_FIELDS.name as Column;

/** What products have by reference, and records by name or code. */
const LINKED = {
  publisher: name,
  imprint: name,
  product_form: codeOf(150),
  publishing_status: codeOf(64),
  product_availability: codeOf(65),
};

/** What is validated besides the body. */
const OTHER_FIELDS: Fields = {
  contributors: {
    ...ARRAYS.contributors,
    fields: CONTRIBUTOR_FIELDS,
    keepsRest: true,
  },
  collections: {
    ...ARRAYS.product_collections,
    fields: COLLECTION_FIELDS,
    keepsRest: true,
  },
  product_territories: ARRAYS.product_territories,
  product_sales_rights: ARRAYS.product_sales_rights,
  ...IDENTIFIERS,
  ...LINKED,
};

const OtherValues = object({
  contributors: v.optional(list(objectOf(CONTRIBUTOR_FIELDS, "new"))),
  collections: v.optional(list(objectOf(COLLECTION_FIELDS, "new"), "name")),
  product_territories: v.optional(pathBody(ARRAYS.product_territories)),
  product_sales_rights: v.optional(pathBody(ARRAYS.product_sales_rights)),
  ...Object.fromEntries(
    Object.entries(IDENTIFIERS).map(([name, field]) => [
      name,
      v.optional(givenValues(field)),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(LINKED).map(([name, { body }]) => [
      name,
      v.optional(v.nullable(body!)),
    ]),
  ),
});

/** The names of the fields that `CreateProduct` validates. The cover follows from the resources. */
const IN_BODY = Object.keys(MAPPING).filter((name) => {
  if (name === "cover_image_url") return false;
  const array = (ARRAYS as Fields)[name];
  return name in SCALARS
    ? name !== "collections"
    : array?.kind === "values" || array?.kind === "list";
});

/** Keeps of the values that were read those that a product can have, and warns of the others. Changes `read`. */
export function validValues(
  read: RecordValues,
  reader: RecordReader,
): RecordValues {
  const body = keepValid(
    reader,
    CreateProduct,
    {
      collateral: COLLATERAL_TYPES.flatMap((type) => objectsIn(read[type])),
      // A partial update has no title, which a body must have.
      title: NEEDED.title,
      ...picked(read, IN_BODY),
    },
    FIELDS,
    NEEDED,
  );
  const others = keepValid(
    reader,
    OtherValues,
    {
      product_territories: [],
      product_sales_rights: [],
      ...picked(read, Object.keys(OTHER_FIELDS)),
    },
    OTHER_FIELDS,
  );
  const values: RecordValues = { ...others };
  for (const name of IN_BODY) values[name] = body?.[name];
  if (read.title === undefined) delete values.title;
  for (const type of COLLATERAL_TYPES) {
    values[type] = objectsIn(body?.collateral)
      .filter(({ collateral_type }) => collateral_type === type);
  }
  values.cover_image_url = coverOf(body?.supporting_resources);
  return values;
}

function picked(values: RecordValues, names: readonly string[]): RecordValues {
  return Object.fromEntries(
    names.flatMap((name) =>
      values[name] === undefined ? [] : [[name, values[name]]]
    ),
  );
}

/**
 * In how many rounds values are left out one by one: a round finds some 100 faults of an
 * array, and what is left out may make something else invalid. After them, whole fields go.
 */
const MAX_ROUNDS = 5;

/**
 * The value as the API accepts it, without what its schema refuses. Each refusal is a
 * warning, or an error if it concerns one of the `needed` fields: that then has the value
 * that stands in for it. Changes `value`.
 */
function keepValid<T>(
  reader: RecordReader,
  schema: v.GenericSchema<unknown, T>,
  value: Record<string, unknown>,
  fields: Fields,
  needed: Readonly<Record<string, unknown>> = {},
): T {
  for (let round = 0;; round++) {
    const { success, output, issues } = v.safeParse(schema, value);
    if (success) {
      passElements(value, output, reader);
      return output;
    }
    const refused = issues.map((issue) =>
      refusalOf(issue, value, fields, reader)
    );
    for (const one of refused) {
      const isError = one.owner === value && String(one.key) in needed;
      const isFollowing = (one.isMissing || one.mayFollow) &&
        reader.hasLost(one.element);
      if (isFollowing || round > 0 && one.mayFollow || one.isOfOnix) continue;
      if (isError) reader.fault(one.code, one.message, one.element, one);
      else reader.warn(one.code, one.message, one.element, one);
    }
    // Later entries go first, so that the positions of the others stay.
    refused.sort((a, b) => Number(b.key) - Number(a.key) || 0);
    const gone = new Map<object, Set<string | number>>();
    for (const one of refused) {
      const { owner, key, max, found } = round < MAX_ROUNDS
        ? one
        : { ...one.whole, max: undefined };
      const keys = gone.getOrInsert(owner, new Set());
      if (keys.has(key)) continue;
      keys.add(key);
      if (owner === value) reader.markUnreadable(String(key));
      removeAt(owner, key, max, found, reader);
      if (owner === value && key in needed) value[key] = needed[key];
    }
  }
}

/** Removes a value, which was read from the element that was `found` for it. */
function removeAt(
  owner: object,
  key: string | number,
  max: number | undefined,
  found: Element | undefined,
  reader: RecordReader,
): void {
  if (max !== undefined) {
    const entries = (owner as Record<string, unknown[]>)[key]!;
    releaseEntries(entries.splice(max), reader);
  } else if (Array.isArray(owner)) {
    releaseEntries(owner.splice(Number(key), 1), reader);
  } else {
    const object = owner as Record<string, unknown>;
    releaseEntries(object[key], reader);
    const isOwn = !reader.elementOf(object) && !Array.isArray(object[key]);
    if (found && isOwn) reader.release(found);
    delete object[key];
  }
}

function releaseEntries(value: unknown, reader: RecordReader): void {
  if (Array.isArray(value)) {
    value.forEach((each) => releaseEntries(each, reader));
  }
  if (!isObject(value)) return;
  const element = reader.elementOf(value);
  if (element) reader.release(element);
}

/** What is left out because of an issue, and what is told of it. */
interface Refusal extends Omit<IssueStep, "field"> {
  code: string;
  message: string;
  element: Element;
  missing: string | undefined;
  isMissing: boolean;
  /** Whether it may be a consequence of what was left out before. */
  mayFollow: boolean;
  /** Whether ONIX has such an entry, although the API has not. */
  isOfOnix: boolean;
  /** Of an array with too many entries, how many stay. */
  max: number | undefined;
  /** The field of the product that it is in. */
  whole: IssueStep;
}

/** What to leave out because of an issue, and which element to name. */
function refusalOf(
  issue: v.BaseIssue<unknown>,
  value: Record<string, unknown>,
  fields: Fields,
  reader: RecordReader,
): Refusal {
  const [, code = "invalid", message = issue.message] =
    /^(\w+): (.*)$/s.exec(issue.message) ?? [];
  const steps: IssueStep[] = [];
  let at: unknown = value;
  let below = fields;
  let around = fields;
  let element = reader.record;
  let field: Field | undefined;
  let isExact = true;
  for (const { key } of (issue.path ?? []) as { key: string | number }[]) {
    if (typeof at !== "object" || at === null) break;
    element = reader.elementOf(at) ?? element;
    const next = (at as Record<string | number, unknown>)[key];
    if (typeof key === "string") {
      field = below[key];
      around = below;
      below = field ? fieldsIn(field) : {};
    }
    const index = typeof key === "number" ? key : 0;
    const name = typeof key === "string" ? key : steps.at(-1)?.key;
    const owner = typeof key === "string" ? at : steps.at(-1)?.owner;
    const found = typeof name === "string" && field
      ? reader.fieldOf(owner!, name) ?? elementOfEntry(next, reader) ??
        locate(name, field, element, index)
      : undefined;
    isExact = found !== undefined;
    steps.push({ owner: at, key, ...field && { field }, found });
    at = next;
  }
  if (typeof at === "object" && at !== null) {
    const own = reader.elementOf(at);
    element = own ?? element;
    isExact ||= own !== undefined;
  }
  const last = steps.at(-1)!;
  const isEmpty = last.found !== undefined && !hasText(last.found);
  const isMissing = at === undefined || !isExact ||
    code === "too_few" && isEmpty;
  const missing = isMissing ? nameOfMissing(last) : undefined;
  const isAbsent = missing !== undefined &&
    (issue.type === "object" || code === "too_few");
  const result = {
    code: isAbsent ? "required" : code,
    message: isAbsent
      ? `${element.name} has no ${missing}`
      : inOnix(message, around),
    element: reader.elementOf(at as object) ?? last.found ?? element,
    isMissing,
    missing,
    mayFollow: code === "too_few",
    isOfOnix: isAbsent && isWholeOfOnix(element),
    whole: steps[0]!,
  };
  const max = last.field?.kind === "list" && last.field.max || MAX_ENTRIES;
  if (code === "too_many" && Array.isArray(at) && at.length > max) {
    const first = reader.elementOf(at[max]) ??
      locate(String(last.key), last.field!, element, max) ?? result.element;
    const { owner, key } = last;
    return { ...result, element: first, owner, key, max, found: undefined };
  }
  const { owner, key, found } = leftOut(steps);
  return { ...result, owner, key, max: undefined, found };
}

/** The element of an entry, or of the first one of an array. */
function elementOfEntry(
  value: unknown,
  reader: RecordReader,
): Element | undefined {
  const entry = Array.isArray(value) ? value[0] : value;
  return isObject(entry) ? reader.elementOf(entry) : undefined;
}

/** Whether a composite has what the standard demands, such as an extent in roman numerals. */
function isWholeOfOnix({ name, children }: Element): boolean {
  const parts = children.filter(hasText);
  return RELEASES.some((release) => {
    const model = composite(release, name)?.model;
    return model !== undefined && matches(model, parts);
  });
}

/** The entries of the output come from the same elements. */
function passElements(
  input: unknown,
  output: unknown,
  reader: RecordReader,
): void {
  if (Array.isArray(input) && Array.isArray(output)) {
    input.forEach((each, i) => passElements(each, output[i], reader));
  } else if (isObject(input) && isObject(output)) {
    const element = reader.elementOf(input);
    if (element) reader.tie(element, output);
    if (element?.id) output.id = element.id;
    for (const key in input) passElements(input[key], output[key], reader);
  }
}

/** A message that names elements where it names these fields, and the form of dates in ONIX. */
function inOnix(message: string, fields: Fields): string {
  return message.replace("YYYY-MM-DD", "YYYYMMDD").replace(
    /\b[a-z]+(?:_[a-z]+)+\b/g,
    (name) => {
      const field = fields[name];
      return field && elementOf(name, field) || name;
    },
  );
}

/** The first element on the way to the place of a missing field. */
function nameOfMissing({ key, field }: IssueStep): string | undefined {
  const place = typeof key === "string" && field ? elementOf(key, field) : null;
  return place?.replace(/[[/].*$/s, "");
}

/** A step of the path of an issue. */
interface IssueStep {
  owner: object;
  key: string | number;
  field?: Field;
  found: Element | undefined;
}

/**
 * What is left out: the innermost entry, or only its field if the entry keeps its other
 * fields (`keepsRest`). A part that limits an entry takes the entry with it.
 */
function leftOut(steps: readonly IssueStep[]): IssueStep {
  const isEntry = ({ key, field }: IssueStep) =>
    typeof key === "number" && field !== undefined && "fields" in field;
  const last = steps.findLastIndex(isEntry);
  if (last < 0) return steps[0]!;
  const { found } = steps[last]!;
  if (found && isRight(found)) return steps[0]!;
  const inner = steps[last + 1];
  const array = steps[last]!.field!;
  const keepsRest = "keepsRest" in array && array.keepsRest;
  const isThere = inner !== undefined && inner.key in inner.owner;
  if (!inner || !keepsRest || !isThere) return steps[last]!;
  // Of several values, such as the roles of a person, only the refused one goes.
  const item = steps[last + 2];
  return item && typeof item.key === "number" && !limitsEntry(inner)
    ? item
    : inner;
}

function limitsEntry({ found }: IssueStep): boolean {
  return found !== undefined && limits(found.name);
}

function fieldsIn(field: Field): Fields {
  if (!("fields" in field)) return {};
  if (field.kind !== "rows" || !field.types) return field.fields;
  return Object.assign(
    {},
    field.fields,
    ...Object.values(field.types).map(({ fields }) => fields),
  );
}

/** The element of a field in the composite of its object. */
function locate(
  name: string,
  field: Field,
  composite: Element,
  index: number,
): Element | undefined {
  if (composite.name === "Product") {
    return name in MAPPING ? elementOfField(composite, name, index) : undefined;
  }
  if (elementOf(name, field) === null) return;
  return codecOf(name, field, composite.name)?.find?.(composite, index);
}
