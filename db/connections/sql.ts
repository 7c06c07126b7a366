/*
 * Composes SQL statements with a tagged template. Values become parameters, and the caller's
 * organization is always `$1`.
 *
 *     sql`select p.title from products p where p.organization_id = ${organization} and p.id = ${id}`
 */

/** The placeholder for the id of the caller's organization. It becomes parameter `$1`. */
export const organization = Symbol("organization");

/** A parameter of type `jsonb`. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** A parameter of type `jsonb` with this value. */
export function json(value: unknown): Json {
  return new Json(value);
}

/** An SQL statement or fragment: strings of text, and the values between them. */
export interface Statement<Row extends object = object> {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  /** Whether the server prepares the statement and reuses its plan. */
  readonly prepare: boolean;
  /** The text with the parameters, if it is composed once. */
  readonly text?: string;
  /** The type of a result row. Only the compiler uses it. */
  readonly row?: Row;
}

/** The rows of a statement, and the number of rows that it read or wrote. */
export type Result<S> = S extends Statement<infer Row> ? Row[] & { readonly count: number }
  : never;

/** The results of several statements, in order. */
export type Results<S extends readonly Statement[]> = {
  -readonly [I in keyof S]: Result<S[I]>;
};

/**
 * A tagged template for a statement or a fragment. Interpolated fragments become part of the text,
 * and those of an array with a space between them. `organization` becomes `$1`. Any other value
 * becomes a parameter. The statement is prepared if all of its fragments are.
 */
export function sql<Row extends object = object>(
  template: TemplateStringsArray,
  ...interpolated: readonly unknown[]
): Statement<Row> {
  const strings: string[] = [];
  const values: unknown[] = [];
  let text = template[0]!;
  let prepare = true;

  function add(part: unknown): void {
    if (!isStatement(part)) return addValue(part, "");
    text += part.strings[0];
    for (let i = 0; i < part.values.length; i++) {
      addValue(part.values[i], part.strings[i + 1]!);
    }
    prepare &&= part.prepare;
  }

  function addValue(value: unknown, textAfter: string): void {
    values.push(value);
    strings.push(text);
    text = textAfter;
  }

  // A word directly after a parameter is a syntax error.
  function addElement(part: unknown, i: number): void {
    if (i > 0) text += " ";
    add(part);
  }

  for (let i = 0; i < interpolated.length; i++) {
    const value = interpolated[i];
    if (Array.isArray(value)) value.forEach(addElement);
    else add(value);
    text += template[i + 1];
  }
  strings.push(text);
  return { strings, values, prepare };
}

/** A fragment of trusted text, such as a table name. Never pass client data. */
export function raw(text: string): Statement {
  return { strings: [text], values: [], prepare: true };
}

/** A fragment of comma-separated parameters, at least one. */
export function parameters(values: readonly unknown[]): Statement {
  const separators = new Array(values.length - 1).fill(", ");
  return { strings: ["", ...separators, ""], values, prepare: true };
}

/** Fragments with a separator between them: those of columns or values, or `or` between conditions. */
export function joined(
  parts: readonly Statement[],
  separator = ",",
): Statement {
  return sql`${parts.map((part, i) => i === 0 ? part : sql`${raw(separator)} ${part}`)}`;
}

/** A fragment of comma-separated column names. */
export function names(...columns: readonly string[]): Statement {
  return raw(columns.join(", "));
}

/**
 * The condition that a column is one of these UUIDs. A statement with one UUID is
 * prepared. With several, it is planned at each execution: a plan that was cached while
 * the table was small would scan the whole table.
 */
export function isOneOf(ids: readonly string[]): Statement {
  return ids.length === 1 ? is(ids[0]) : unprepared(isAnyOf(ids));
}

/** The condition that a column is one of these UUIDs, prepared for any number of them. */
export function isAnyOf(ids: readonly string[]): Statement {
  return isIn(ids.join());
}

function is(id: unknown): Statement {
  return sql`= ${id}`;
}

function isIn(ids: unknown): Statement {
  return sql`= any((select string_to_array(${ids}, ',')::uuid[])::uuid[])`;
}

/** The condition that a column is one of these texts, which may contain any character. */
export function isOneOfTexts(values: readonly string[]): Statement {
  return sql`= any(array(select jsonb_array_elements_text(${json(values)})))`;
}

/**
 * A parameter wrapped in a subselect, so that its value cannot tempt the planner away
 * from the cached generic plan.
 */
export function opaque(value: unknown, type: string): Statement {
  return sql`(select ${value}::${raw(type)})`;
}

/** Returns the statement unprepared, so that it is planned for its own values at each execution. */
export function unprepared<Row extends object>(
  statement: Statement<Row>,
): Statement<Row> {
  return { ...statement, prepare: false };
}

/**
 * Returns the statement prepared, although a fragment asks for a plan of its own. Only for look-ups by
 * a primary key: no plan makes them a scan.
 */
export function prepared<Row extends object>(statement: Statement<Row>): Statement<Row> {
  return { ...statement, prepare: true };
}

/**
 * A statement for any values, whose text is composed once, from what `compose` returns for
 * placeholders: it may only interpolate them. The driver finds a prepared statement by its
 * text. It would hash all of a string that is new at each call: 50 us for 10 KB.
 */
export function composed<Values extends unknown[], Row extends object>(
  compose: (...values: Values) => Statement<Row>,
  count = compose.length,
): (...values: Values) => Statement<Row> {
  const placeholders: unknown[] = Array.from({ length: count }, Symbol);
  const statement = compose(...placeholders as Values);
  const text = textOf(statement);
  const places = statement.values.map((value) => placeholders.indexOf(value));
  return (...given) => ({
    ...statement,
    text,
    values: statement.values.map((value, i) => {
      const place = places[i]!;
      return place < 0 ? value : given[place];
    }),
  });
}

/**
 * A statement about rows with some ids, whose texts are composed once as `composed` does: one for a
 * single id, and one for several. `compose` gets the condition `isOneOf` of the ids.
 */
export function composedForIds<Values extends unknown[], Row extends object>(
  compose: (isOneOf: Statement, ...values: Values) => Statement<Row>,
): (ids: readonly string[], ...values: Values) => Statement<Row> {
  type Compose = (ids: unknown, ...values: Values) => Statement<Row>;
  const forOne: Compose = (id, ...values) => compose(is(id), ...values);
  const forSeveral: Compose = (ids, ...values) => compose(unprepared(isIn(ids)), ...values);
  const one = composed(forOne, compose.length);
  const several = composed(forSeveral, compose.length);
  return (ids, ...values) =>
    ids.length === 1 ? one(ids[0], ...values) : several(ids.join(), ...values);
}

/** The text of a statement with the parameters `$1`, `$2` …, and their values. */
export function parametersOf(
  statement: Statement,
  organizationId?: string,
): { text: string; parameters: unknown[] } {
  const { values, text = textOf(statement) } = statement;
  const parameters = values.filter((value) => value !== organization);
  if (parameters.length < values.length) {
    if (organizationId === undefined) {
      throw new Error("This statement requires an organization");
    }
    parameters.unshift(organizationId);
  }
  return { text, parameters };
}

function textOf({ strings, values }: Statement): string {
  let last = values.includes(organization) ? 1 : 0;
  let text = strings[0]!;
  for (let i = 0; i < values.length; i++) {
    const number = values[i] === organization ? 1 : ++last;
    text += `$${number}${strings[i + 1]}`;
  }
  return text;
}

function isStatement(value: unknown): value is Statement {
  return typeof value === "object" && value !== null && "strings" in value;
}

/**
 * Joins the row that `select` finds by a primary key, or nulls, as `alias`. The limit forces the
 * look-up by the key: while statistics show few rows, the planner would scan all of the organization.
 */
export function joinByKey(alias: string, select: Statement): Statement {
  return sql`
  left join lateral (
    ${select}
    limit 1
  ) ${raw(alias)} on true
`;
}
