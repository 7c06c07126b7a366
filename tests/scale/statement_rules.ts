import { callsVolatile, type Schema, shardedBy } from "./schema.ts";
import { bare, inside, items, levels } from "./text.ts";

/** Whether the statement (`bare`, without literals) breaks the rule. */
type Breaks = (statement: string, schema: Schema) => boolean;

/**
 * The rules for statements of requests in a database distributed by organization.
 * With them, a statement runs on the one node that has the organization.
 */
const RULES = {
  "names the organization, as a parameter, for every table of organizations": (
    statement,
    schema,
  ) =>
    levels(statement).some((level) =>
      tablesOf(level).some(({ table, alias, kind }) => {
        const column = shardedBy(schema, table);
        return kind !== "into" && column !== undefined &&
          conditions(level, `${alias}.${column}`) <
            tablesOf(level).filter((other) => other.alias === alias).length;
      })
    ),

  "compares no organization with another table's": (statement) =>
    /\borganization_id = \w+\.organization_id\b/.test(statement),

  "inserts values, or selects the organization out of one of its tables": (
    statement,
    schema,
  ) => {
    const [, table] = /^insert into (\w+)/.exec(statement) ?? [];
    if (!table || shardedBy(schema, table) !== "organization_id") return false;
    const columns = items(inside(statement));
    const at = columns.indexOf("organization_id");
    const [, selected] = /\) select (.*?) from /.exec(statement) ?? [];
    return at < 0 ||
      selected !== undefined &&
        !/^\w+\.organization_id$/.test(items(selected)[at] ?? "");
  },

  "calls no volatile function in a write, nor through a column default": (
    statement,
    schema,
  ) => {
    const [, table] = /^insert into (\w+)/.exec(statement) ?? [];
    const isInsertSelect = table && !/\) values \(/.test(statement);
    if (/^(update|delete) /.test(statement) || isInsertSelect) {
      if (callsVolatile(schema, statement)) return true;
    }
    if (!isInsertSelect) return false;
    const given = items(inside(statement));
    return Array.from(schema.columns.get(table) ?? []).some((
      [column, definition],
    ) => !given.includes(column) && callsVolatile(schema, definition));
  },

  "adds intervals to columns only in UTC": (statement) =>
    /^update .*\w\.\w+ [+-] interval\b/.test(statement),

  "does not nest now() in coalesce or case": (
    statement,
  ) =>
    /^(insert|update|delete) /.test(statement) &&
    /\b(coalesce \(|case\b)[^()]*\bnow \(/.test(statement),

  "returns columns of what it writes, and calls no function on them": (
    statement,
  ) =>
    /^(insert|update|delete) /.test(statement) &&
    /\breturning\b.*\(/.test(statement),

  "writes nothing inside a common table expression": (statement) =>
    /^with /.test(statement) &&
    /\( (insert into|update|delete from|merge into) /.test(statement),

  "writes no table that every node has": (statement, { shared }) => {
    const [, table] = /^(?:insert into|update|delete from) (\w+)/.exec(statement) ?? [];
    return table !== undefined && shared.has(table);
  },

  "decides by immutable functions what a conflict updates": (statement) =>
    /\bon conflict\b.*\bwhere\b.*(\bnow \(|\w\.\w+ [+-] interval\b)/.test(statement),

  "takes no parameter where a row that it selects meets another": (statement) =>
    /^insert into /.test(statement) && !/\) values \(/.test(statement) &&
    /\bon conflict\b.*\$[\d]/.test(statement),

  "asks no organization's table for the version or the horizon of the transaction": (
    statement,
    schema,
  ) =>
    /^(select|with) /.test(statement) &&
    /\b(change_version|pg_current_(snapshot|xact_id)) \(/.test(statement) &&
    levels(statement).some((level) =>
      tablesOf(level).some(({ table }) => shardedBy(schema, table) !== undefined)
    ),

  "does not nest the version of the transaction in coalesce or case": (statement) =>
    /\b(coalesce \(|case\b)[^()]*\bchange_version \(/.test(statement),

  "moves no row to another organization": (statement) =>
    /\bset\b.*(?:^|[ ,(])organization_id =/.test(
      statement.replace(/\bwhere\b.*/, ""),
    ),

  "compares in each branch of a case, not once before them": (statement) =>
    /\bcase (?!when\b)/.test(statement),

  "does not merge": (statement) => /^merge /.test(statement),

  "defers no constraint": (statement) => /^set constraints /.test(statement),
} satisfies Record<string, Breaks>;

/** The names of the rules for statements. */
export const STATEMENT_RULES = Object.keys(RULES);

/** The rules that the statement breaks. */
export function brokenBy(statement: string, schema: Schema): string[] {
  const text = bare(statement);
  return Object.entries<Breaks>(RULES)
    .filter(([, breaks]) => breaks(text, schema))
    .map(([rule]) => rule);
}

/** The tables at one level of a statement, with their aliases. */
function tablesOf(level: string) {
  const from = level.matchAll(
    /\bfrom (.*?)(?=\b(?:where|group by|order by|limit|returning|union|on conflict|for)\b|$)/g,
  );
  const joined = Array.from(
    from,
    ([, clause]) => clause!.split(/\bjoin\b|,/),
  ).flat().map((source) => ({ kind: "from", source: source.trim() }));
  const written = Array.from(
    level.matchAll(/\b(update|into|using) (?!of\b)(\w+(?: as \w+| \w+)?)/g),
    ([, kind, source]) => ({ kind: kind!, source: source! }),
  );
  return [...joined, ...written].map(({ kind, source }) => {
    const [, table = "", alias] =
      /^(?:lateral )?(\w+)(?: (?:as )?(?!on\b|set\b|cross\b|left\b|inner\b|full\b)(\w+))?/
        .exec(source) ?? [];
    return { kind, table, alias: alias ?? table };
  });
}

/** The number of conditions on the organization at this level. */
function conditions(level: string, column: string): number {
  return Array.from(level.matchAll(new RegExp(`\\b${column} = \\$\\d+`, "g"))).length;
}
