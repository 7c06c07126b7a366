import { names, organization, raw, sql, type Statement } from "../connections/sql.ts";

/**
 * Inserts documents `b` as versions. `columns` and `values` are what else a version has, such as
 * its author; `l` is the version before it. A document without `names_version` is never valid (-1).
 */
export function insertVersions(
  built: Statement,
  columns: readonly string[],
  values: Statement,
): Statement {
  return sql`
    insert into product_documents as d (
      organization_id, product_id, change_version, names_version, summary, details,
      ${names(...columns)}
    )
    select
      b.organization_id, b.product_id, b.change_version, coalesce(b.names_version, -1), b.summary, b.details,
      ${values}
    from (${built} offset 0) b
    -- The version before it.
    left join lateral (
      select l.changed_at, l.event
      from product_documents l
      where l.organization_id = ${organization} and l.product_id = b.product_id
        and l.change_version < b.change_version
      order by l.change_version desc
      limit 1
    ) l on true
  `;
}

/** `madeAt` in whole milliseconds, or one after version `l` if that is later. */
export function changedAfter(madeAt: string): Statement {
  return raw(`greatest(
    date_trunc('milliseconds', ${madeAt}), l.changed_at + interval '1 millisecond'
  )`);
}

/** The end of `insertVersions`, for a version that is there. */
export const orElse = raw(
  "on conflict (organization_id, product_id, change_version) do",
);
