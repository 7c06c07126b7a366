import { joined, names, organization, raw, sql, type Statement } from "../connections/sql.ts";

/** Documents that become versions, and what else these have, by column. */
interface NewVersions {
  /** The documents `b`. One without `names_version` is never valid (-1). */
  documents: Statement;
  /** Joins what the values need beside `b` and `l`, the version before it. */
  beside?: Statement;
  values: Record<string, Statement>;
  /** What a version that is there gets beside its document. Without it, it stays as it is. */
  updates?: Record<string, Statement>;
}

/** Inserts versions `d`. Later changes of a transaction change its version. */
export function insertVersions(
  { documents, beside = raw(""), values, updates }: NewVersions,
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
    -- The version before it.
    left join lateral (
      select l.changed_at, l.event
      from product_documents l
      where l.organization_id = ${organization} and l.product_id = b.product_id
        and l.change_version < b.change_version
      order by l.change_version desc
      limit 1
    ) l on true
    ${beside}
    on conflict (organization_id, product_id, change_version) do ${
    updates ? updateVersion(updates) : raw("nothing")
  }
  `;
}

function updateVersion(updates: Record<string, Statement>): Statement {
  const assignments = Object.entries(updates)
    .map(([column, value]) => sql`${raw(column)} = ${value}`);
  return sql`update set
      names_version = excluded.names_version,
      summary = excluded.summary,
      details = excluded.details,
      ${joined(assignments)}`;
}

/** `madeAt` in whole milliseconds, or one after version `l` if that is later. */
export function changedAfter(madeAt: string): Statement {
  return raw(`greatest(
    date_trunc('milliseconds', ${madeAt}), l.changed_at + interval '1 millisecond'
  )`);
}
