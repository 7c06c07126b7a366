import type { Field, Fields, Group, Rows, Scalar } from "./fields.ts";
import { ANY_TEXT, type Values } from "./values.ts";

/** A body with its errors. */
export interface Faulty {
  body: unknown;
  errors: Errors;
  /** Whether only a body that creates or that updates has these errors. */
  onlyOn?: "create" | "update";
}

/** Pointers with codes. */
export type Errors = [pointer: string, code: string][];

/** An object in a body, and the values that responses show for it. */
export interface Valid {
  object: object;
  stored: Record<string, unknown>;
}

/** A record that a reference may name, by table. */
export type Records = Record<string, string>;

/** An object in a body. */
export interface Place {
  fields: Fields;
  /** The pointer of the object with this index. */
  at(index: number): string;
  /** How many such objects fit in one body. */
  most: number;
  /** A body with these objects. */
  bodyWith(objects: unknown[]): unknown;
  /** The array that the object is an entry of. */
  array?: Rows;
  /** The index of such an object in `wholeObject`. */
  example: number;
}

/** A response lists at most 100 errors. */
const MOST_ERRORS = 100;

/** The objects of a body with these fields, at every depth. */
export function placesOf(fields: Fields, records: Records): Place[] {
  return below({
    fields,
    at: () => "",
    most: 1,
    bodyWith: ([object]) => object,
    example: 0,
  }, records);
}

/** The objects of a body that is an array. */
export function placesOfArray(array: Rows, records: Records): Place[] {
  return inArray(array, "", (entries) => entries, records);
}

function below(place: Place, records: Records): Place[] {
  const parent = leastObject(place.fields, records);
  return [
    place,
    ...Object.entries(place.fields).flatMap(([name, field]) => {
      if ("rows" in field) {
        return inArray(
          field,
          `${place.at(0)}/${name}`,
          (entries) => place.bodyWith([{ ...parent, [name]: entries }]),
          records,
        );
      }
      if (!("fields" in field)) return [];
      return below({
        ...place,
        fields: field.fields,
        at: (index) => `${place.at(index)}/${name}`,
        bodyWith: (objects) =>
          place.bodyWith(
            objects.map((object) => ({ ...parent, [name]: object })),
          ),
        array: undefined,
      }, records);
    }),
  ];
}

function inArray(
  array: Rows,
  pointer: string,
  bodyWith: Place["bodyWith"],
  records: Records,
): Place[] {
  const place: Place = {
    fields: array.rows,
    at: (index) => `${pointer}/${index}`,
    // Entries with equal keys would be duplicates.
    most: array.key || array.isDistinct ? 1 : MOST_ERRORS,
    bodyWith,
    array,
    example: 0,
  };
  if (!array.types) return below(place, records);
  return Object.entries(array.types).map(([name, fields], example) => ({
    ...place,
    example,
    fields: { [typeOf(array)]: typeNamed(name), ...fields },
  }));
}

/** The field that tells the type of an entry. */
function typeOf(array: Rows): string {
  return Object.keys(array.rows)[0]!;
}

/** The type as a field that has this value alone. `faultyShapes` sends the others. */
function typeNamed(name: string): Scalar {
  return { takes: [[name, name]], refuses: [], isRequired: true };
}

/** The paths of the fields, of those in arrays with `*`. */
export function pathsOf(fields: Fields, path = ""): string[] {
  return [
    path,
    ...Object.entries(fields).flatMap(([name, field]) => {
      const inner = `${path}/${name}`;
      if ("rows" in field) return [inner, ...pathsOfArray(field, inner)];
      if ("fields" in field) return pathsOf(field.fields, inner);
      // Its values have paths, too.
      const isArray = field.takes.some(([sent]) => Array.isArray(sent));
      return isArray ? [inner, `${inner}/*`] : [inner];
    }),
  ];
}

export function pathsOfArray(array: Rows, path = ""): string[] {
  const types = Object.values(array.types ?? {});
  return [
    ...array.hasIds && array.put === "tree" ? [`${path}/*/id`] : [],
    ...[array.rows, ...types].flatMap((fields) => pathsOf(fields, `${path}/*`)),
  ];
}

/** An object with the required fields alone. */
export function leastObject(fields: Fields, records: Records): object {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => isRequired(field) || "isGiven" in field)
      .map(([name, field]) => [name, someValue(field, records)]),
  );
}

/** An object with the required fields, and an entry of each type in each array, at every depth. */
export function wholeObject(fields: Fields, records: Records): object {
  return Object.fromEntries([
    ...Object.entries(leastObject(fields, records)),
    ...Object.entries(fields).flatMap(([name, field]) => {
      if ("rows" in field) return [[name, wholeArray(field, records)]];
      if ("fields" in field) {
        return [[name, wholeObject(field.fields, records)]];
      }
      return [];
    }),
  ]);
}

export function wholeArray(array: Rows, records: Records): object[] {
  if (!array.types) return [wholeObject(array.rows, records)];
  return Object.entries(array.types).map(([name, fields]) => ({
    [typeOf(array)]: name,
    ...leastObject(fields, records),
  }));
}

function isRequired(field: Field): boolean {
  return "isRequired" in field && field.isRequired === true;
}

function someValue(field: Field, records: Records): unknown {
  if ("rows" in field) {
    return field.isRequired ? [leastObject(field.rows, records)] : [];
  }
  if ("fields" in field) return leastObject(field.fields, records);
  return field.refers ? records[field.refers] : field.takes[0]![0];
}

/** Bodies with values that the fields of the object refuse. */
export function* faultyValues(
  { fields, most, at, bodyWith }: Place,
  records: Records,
): Generator<Faulty> {
  const least = leastObject(fields, records);
  const rounds = inRounds(scalarsOf(fields), "refuses");
  for (const chunk of chunksOf(rounds, most)) {
    yield {
      body: bodyWith(chunk.map((values) => ({ ...least, ...sent(values) }))),
      errors: chunk.flatMap((values, i) => errorsAt(at(i), values)),
    };
  }
}

/** The same for entries of which a product has the row, so that only the changed fields are sent. */
export function* faultyChanges(
  { fields, at, bodyWith, array, example }: Place,
  own: unknown,
): Generator<Faulty> {
  if (array?.put !== "patch" && array?.put !== "replace") return;
  const id = valueAt(own, `${at(example)}/id`);
  for (const values of inRounds(scalarsOf(fields), "refuses")) {
    yield {
      body: bodyWith([{ id, ...sent(values) }]),
      errors: errorsAt(at(0), values),
      onlyOn: "update",
    };
  }
}

function errorsAt(
  pointer: string,
  values: [name: string, value: Values["refuses"][number]][],
): Errors {
  return values.map(([name, [, code, part = ""]]) => [
    `${pointer}/${name}${part}`,
    code,
  ]);
}

/** Objects with the values that the fields accept, as many as fit in a body. */
export function validObjects(place: Place, records: Records): Valid[][] {
  const least = leastObject(place.fields, records);
  const rounds = inRounds(scalarsOf(place.fields), "takes");
  return chunksOf(rounds, place.most).map((chunk) =>
    chunk.map((values) => ({
      object: { ...least, ...sent(values) },
      stored: Object.fromEntries(
        values.map(([name, [, stored]]) => [name, stored]),
      ),
    }))
  );
}

/** Names that no object has. Some of them exist in every object of JavaScript. */
const UNKNOWN_NAMES = ["shelf", "__proto__", "constructor", "prototype"]
  .concat("toString", "hasOwnProperty", "", "a/b~c", "\0", "Title", "title ")
  .concat("rawJSON", "é", "organization", "change_version", "search_text")
  .concat("position");

/** A number that JavaScript cannot hold: the service has an object for it. */
const LONG_NUMBER = JSON.rawJSON("12345678901234567890");

/** Bodies with another value instead of an object or array, with missing fields and with unknown ones. */
export function* faultyShapes(
  place: Place,
  records: Records,
): Generator<Faulty> {
  const { fields, at, array } = place;
  const least = leastObject(fields, records);
  const unknown = JSON.parse(
    `{${UNKNOWN_NAMES.map((name) => `${JSON.stringify(name)}:{"polluted":1}`)}}`,
  );
  yield {
    body: place.bodyWith([{ ...least, ...unknown }]),
    errors: UNKNOWN_NAMES.map((name) => [
      `${at(0)}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      "unknown_field",
    ]),
  };
  for (const [name, field] of Object.entries(fields)) {
    if (isRequired(field)) {
      const { [name]: _, ...rest } = least as Record<string, unknown>;
      yield {
        body: place.bodyWith([rest]),
        errors: [[`${at(0)}/${name}`, "required"]],
        ...!array && { onlyOn: "create" },
      };
    }
    if ("rows" in field || "fields" in field) {
      const wrong = "rows" in field ? {} : [];
      for (const value of [null, wrong, "x", 1, true, LONG_NUMBER]) {
        yield {
          body: place.bodyWith([{ ...least, [name]: value }]),
          errors: [[`${at(0)}/${name}`, codeOf(field, value)]],
        };
      }
    }
    if ("rows" in field) {
      const entry = leastObject(field.rows, records);
      yield {
        body: place.bodyWith([{ ...least, [name]: Array(501).fill(entry) }]),
        errors: [[`${at(0)}/${name}`, "too_many"]],
      };
      if (field.isRequired) {
        yield {
          body: place.bodyWith([{ ...least, [name]: [] }]),
          errors: [[`${at(0)}/${name}`, "too_few"]],
        };
      }
    }
  }
  if (array) {
    const values = [null, [], "x", 1, true, LONG_NUMBER];
    yield {
      body: place.bodyWith(values),
      errors: values.map((_, i) => [at(i), "invalid_type"]),
    };
  }
  if (array?.types) {
    const type = typeOf(array);
    const { refuses } = array.rows[type] as Scalar;
    yield {
      body: place.bodyWith(
        refuses.map(([value]) => ({ ...least, [type]: value })),
      ),
      errors: refuses.map(([, code], i) => [`${at(i)}/${type}`, code]),
    };
  }
}

function codeOf(field: Group | Rows, value: unknown): string {
  return value === null && "ifNull" in field && field.ifNull || "invalid_type";
}

/** Bodies with references to records that do not exist for the organization. */
export function* unknownReferences(
  place: Place,
  records: Records,
  foreign: Records,
): Generator<Faulty> {
  const least = leastObject(place.fields, records);
  const references = Object.entries(scalarsOf(place.fields))
    .flatMap(([name, { refers }]) => refers ? [[name, refers] as const] : []);
  if (references.length === 0) return;
  for (
    const idOf of [() => crypto.randomUUID(), (table: string) => foreign[table]]
  ) {
    const wrong = references.flatMap(([name, table]) => {
      const id = idOf(table);
      return id ? [[name, id] as const] : [];
    });
    yield {
      body: place.bodyWith([{ ...least, ...Object.fromEntries(wrong) }]),
      errors: wrong.map((
        [name],
      ) => [`${place.at(0)}/${name}`, "unknown_reference"]),
    };
  }
}

/** Bodies with entries that name the same record twice. */
export function* equalEntries(
  { array, at, bodyWith, fields }: Place,
  records: Records,
): Generator<Faulty> {
  if (!array?.key) return;
  const least = leastObject(fields, records);
  const upperCase = Object.fromEntries(
    array.key.map((name) => [
      name,
      (least as Record<string, string>)[name]!.toUpperCase(),
    ]),
  );
  yield {
    body: bodyWith([least, { ...least, ...upperCase }, least]),
    errors: [1, 2].map((i) => [`${at(i)}/${array.key![0]}`, "duplicate"]),
  };
}

/**
 * Bodies with ids that no entry can have: invalid ones, those of no row and of rows
 * of other products, and one twice. `own` and `foreign` are products with the
 * content of `wholeObject`.
 */
export function* faultyIds(
  place: Place,
  records: Records,
  own: unknown,
  foreign: unknown[],
): Generator<Faulty> {
  const { array, at, bodyWith, example } = place;
  if (!array?.hasIds) return;
  const least = leastObject(place.fields, records);
  const pointer = `${at(example)}/id`;
  const bodyOf = (ids: unknown[]) => bodyWith(ids.map((id) => ({ ...least, id })));
  yield {
    body: bodyOf([null, "", 1, "x"]),
    errors: ["invalid_type", "invalid_uuid", "invalid_type", "invalid_uuid"]
      .map((code, i) => [`${at(i)}/id`, code]),
    onlyOn: "update",
  };
  const unknown = [
    crypto.randomUUID(),
    ...foreign.map((product) => valueAt(product, pointer)),
  ];
  yield {
    body: bodyOf(unknown),
    errors: unknown.map((_, i) => [`${at(i)}/id`, "unknown_reference"]),
    onlyOn: "update",
  };
  yield {
    body: bodyOf(unknown),
    errors: unknown.map((_, i) => [`${at(i)}/id`, "unexpected_id"]),
    onlyOn: "create",
  };
  const id = valueAt(own, pointer) as string;
  yield {
    body: bodyOf([id, id.toUpperCase()]),
    errors: [[`${at(1)}/id`, "duplicate"]],
    onlyOn: "update",
  };
}

/** The pointers of the values in the object whose fields accept any text. */
export function textsIn(object: object, fields: Fields, at = ""): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const field = fields[name]!;
    const inner = `${at}/${name}`;
    if ("rows" in field) return textsInArray(value, field, inner);
    if ("fields" in field) return textsIn(value, field.fields, inner);
    const takes = (isTaken: (sent: unknown) => boolean) =>
      field.takes.some(([sent]) => isTaken(sent));
    if (Array.isArray(value)) {
      const isOfTexts = takes((sent) => Array.isArray(sent) && sent.includes(ANY_TEXT));
      return isOfTexts ? value.map((_, i) => `${inner}/${i}`) : [];
    }
    return takes((sent) => sent === ANY_TEXT) ? [inner] : [];
  });
}

function textsInArray(entries: object[], array: Rows, at: string): string[] {
  return entries.flatMap((entry, i) => {
    const type = array.types?.[Reflect.get(entry, typeOf(array))];
    return textsIn(entry, { ...array.rows, ...type }, `${at}/${i}`);
  });
}

/** The value at the pointer. */
export function valueAt(value: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1)
    .reduce((at, step) => Reflect.get(at as object, step), value);
}

/** The scalar fields, by name. */
function scalarsOf(fields: Fields): Record<string, Scalar> {
  return Object.fromEntries(
    Object.entries(fields)
      .flatMap(([name, field]) => "takes" in field ? [[name, field]] : []),
  );
}

/** One value of each field at a time, in the order of the values. */
function inRounds<K extends "takes" | "refuses">(
  fields: Record<string, Values>,
  kind: K,
): [name: string, value: Values[K][number]][][] {
  const most = Math.max(
    0,
    ...Object.values(fields).map((values) => values[kind].length),
  );
  return Array.from(
    { length: most },
    (_, i) =>
      Object.entries(fields).flatMap(([name, { [kind]: values }]) => {
        const value = values[i];
        return value === undefined ? [] : [[name, value]];
      }),
  );
}

function sent(values: [name: string, value: unknown[]][]): object {
  return Object.fromEntries(values.map(([name, [value]]) => [name, value]));
}

/** Divides the rounds into bodies, with at most this many rounds and `MOST_ERRORS` values each. */
function chunksOf<T>(rounds: T[][], most: number): T[][][] {
  const chunks: T[][][] = [];
  let room = 0;
  for (const values of rounds) {
    const chunk = chunks.at(-1);
    if (chunk && chunk.length < most && values.length <= room) {
      chunk.push(values);
      room -= values.length;
    } else {
      chunks.push([values]);
      room = MOST_ERRORS - values.length;
    }
  }
  return chunks;
}
