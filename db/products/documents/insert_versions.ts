import { joined, names, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { Transaction } from "../../connections/transaction.ts";

/* Inserts versions of products. A version is a document with its time, event and author. */

/** Documents to insert as versions, with their other columns. */
interface NewVersions {
  /** The documents `b`. One without `names_version` is never valid (-1). */
  documents: Statement;
  /** Joins further tables that the values read, besides `b` and `l`, the version before it. */
  joins?: Statement;
  values: Record<string, Statement>;
  /**
   * The columns to update if the version exists, together with the document. Without it, an
   * existing version stays.
   */
  updates?: Record<string, Statement>;
}

/** Inserts versions `d`. A transaction that changes a product again updates its version. */
export function insertVersions(
  { documents, joins = raw(""), values, updates }: NewVersions,
): Statement {
  return sql`
    insert into product_documents as d (
      organization_id, product_id, change_version, names_version, summary, details,
      ${names(...Object.keys(values))}
    )
    select
      b.organization_id, b.product_id, b.change_version, coalesce(b.names_version, -1), b.summary, b.details,
      ${joined(Object.values(values))}
    from (${documents} offset 0) b
    ${joinVersionBefore("b", "l", ["changed_at", "event"])}
    ${joins}
    on conflict (organization_id, product_id, change_version) do ${
    updates ? updateVersion(updates) : raw("nothing")
  }
  `;
}

/** Joins the version before version `of` as `alias`, or nulls. The condition may exclude versions. */
export function joinVersionBefore(
  of: string,
  alias: string,
  columns: readonly string[],
  condition = "",
): Statement {
  return sql`left join lateral (
      select ${raw(columns.map((name) => `${alias}.${name}`).join(", "))}
      from product_documents ${raw(alias)}
      where ${raw(alias)}.organization_id = ${organization}
        and ${raw(alias)}.product_id = ${raw(of)}.product_id
        and ${raw(alias)}.change_version < ${raw(of)}.change_version ${raw(condition)}
      order by ${raw(alias)}.change_version desc
      limit 1
    ) ${raw(alias)} on true`;
}

/** Versions whose documents are built from the tables, with their other columns. */
interface BuiltVersions extends Omit<NewVersions, "documents"> {
  /** The products. */
  isId: Statement;
  /** A further condition on product `p`. */
  condition?: Statement;
  /** The documents of products that meet the condition. */
  build: (condition: Statement) => Statement;
}

/**
 * Inserts versions `d` whose documents are built from the tables. The last statement returns what
 * `returning` selects of them.
 *
 * Citus would run INSERT … SELECT on all nodes, because it reads tables that every node has. So in a
 * distributed database a first statement inserts versions without JSON, and an UPDATE, which Citus
 * runs on the node of the organization, gives them their documents.
 */
export function insertBuilt<Row extends object>(
  { isDistributed }: Pick<Transaction, "isDistributed">,
  { isId, condition = raw(""), build, joins = raw(""), values, updates }: BuiltVersions,
  returning = raw(""),
): Statement<Row>[] {
  if (!isDistributed) {
    const documents = build(sql`${isId}${condition}`);
    const inserted = insertVersions({ documents, joins, values, ...updates && { updates } });
    return [sql`${inserted}${returning}`];
  }
  const columns = Object.keys(values);
  const assignments = columns.map((column) =>
    sql`${raw(column)} = case
      when d.names_version = ${INSERTED} then excluded.${raw(column)}
      else ${updates?.[column] ?? raw(`d.${column}`)}
    end`
  );
  return [
    sql`
      insert into product_documents (
        organization_id, product_id, change_version, names_version, changed_at, event, summary, details
      )
      select p.organization_id, p.id, p.change_version, ${INSERTED}, now(), 'changed', '', ''
      from products p
      where p.organization_id = ${organization} and p.id ${isId}${condition}
      on conflict (organization_id, product_id, change_version) do nothing
    `,
    sql`
      update product_documents d
      set
        names_version = excluded.names_version,
        summary = excluded.summary,
        details = excluded.details,
        ${joined(assignments)}
      from (
        select
          b.product_id, b.change_version, coalesce(b.names_version, -1) as names_version, b.summary, b.details,
          ${joined(columns.map((column) => sql`${values[column]} as ${raw(column)}`))}
        from (${build(updates ? isId : sql`${isId} and ${isInserted}`)} offset 0) b
        ${joinVersionBefore("b", "l", ["changed_at", "event"])}
        ${joins}
        -- Citus refuses now() in the CASE to which the planner would move the values.
        offset 0
      ) excluded
      where d.organization_id = ${organization} and d.product_id ${isId}
        and d.product_id = excluded.product_id and d.change_version = excluded.change_version
        ${updates ? [] : sql`and d.names_version = ${INSERTED}`}
      ${returning}
    `,
  ];
}

/** The `names_version` of a version that the transaction has inserted without JSON. */
const INSERTED = raw("-2");

const isInserted = sql`exists (
  select 1
  from product_documents s
  where s.organization_id = ${organization} and s.product_id = p.id
    and s.change_version = p.change_version and s.names_version = ${INSERTED}
)`;

function updateVersion(updates: Record<string, Statement>): Statement {
  const assignments = Object.entries(updates)
    .map(([column, value]) => sql`${raw(column)} = ${value}`);
  return sql`update set
      names_version = excluded.names_version,
      summary = excluded.summary,
      details = excluded.details,
      ${joined(assignments)}`;
}

/**
 * The time of a version: `madeAt` in milliseconds. If the last version is as late, it is one millisecond
 * after that.
 */
export function versionTime(madeAt: string, lastVersion = "l"): Statement {
  return raw(`greatest(
    date_trunc('milliseconds', ${madeAt}), ${lastVersion}.changed_at + interval '1 millisecond'
  )`);
}
