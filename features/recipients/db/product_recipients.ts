import { type Criteria, isOpen, type View } from "../../../schema/view.ts";
import {
  joinByKey,
  joined,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { productNotFound } from "../../../db/products/errors/errors.ts";
import { viewConditions } from "../../../db/products/lists/view.ts";
import { rfc3339 } from "../../../db/times.ts";
import type { ProductRecipient } from "../schema/recipient.ts";

/* Lists the recipients that see a product, and for the others the criteria that hide it. */

/** Every recipient of the organization, by name. Throws `NOT_FOUND`. */
export async function listProductRecipients(
  database: Queries,
  id: string,
): Promise<ProductRecipient[]> {
  const shown = sql`
    select m.changed_at
    from recipient_products m
    where m.organization_id = ${organization} and m.recipient_id = r.id and m.product_id = ${id}
      and m.is_there
  `;
  const all = await database.scan(
    sql<{ id: string; name: string; view: View; since: string | null }>`
    select r.id, r.name, r.view, ${rfc3339("m.changed_at")} as since
    from recipients r
    ${joinByKey("m", shown)}
    where r.organization_id = ${organization}
    order by left(r.name_key, 200), r.id
  `,
  );
  const criteriaOfAll = all.map(({ view }) => criteriaOf(id, view));
  const [found, ...keptOut] = await database.transaction(async (tx) => {
    const results = await tx.send(
      sql`select p.id from products p where p.organization_id = ${organization} and p.id = ${id}`,
      ...criteriaOfAll.map(selectKeptOut),
    );
    await tx.commit();
    return results;
  });
  if (found!.length === 0) throw productNotFound(id);
  return all.map(({ id, name, view, since }, i) => {
    const [{ kept_out }] = keptOut[i] as unknown as [{ kept_out: boolean[] }];
    const because = criteriaOfAll[i]!.flatMap(({ pointer }, j) => kept_out[j] ? pointer : []);
    const isIn = because.length === 0;
    return { id, name, in_view: isIn, since: isIn && !isOpen(view) ? since : null, because };
  });
}

/**
 * Selects which of the criteria hide the product. Each recipient has a statement of its own: planning
 * one of all would take a time that is quadratic in their number.
 */
function selectKeptOut(criteria: readonly Criterion[]): Statement {
  const conditions = criteria.map(({ keepsOut }) => keepsOut);
  return unprepared(sql`
    select ${
    conditions.length > 0 ? sql`to_json(array[${joined(conditions)}])` : raw("'[]'::json")
  } as kept_out
  `);
}

/** A criterion of a view: its pointer, and the SQL condition that it hides the product. */
interface Criterion {
  pointer: string;
  keepsOut: Statement;
}

function criteriaOf(id: string, { selection, except }: View): Criterion[] {
  const criteria = Object.entries(selection).map(([name, value]) => ({
    pointer: `/selection/${name}`,
    keepsOut: sql`not ${meets(id, { [name]: value })}`,
  }));
  return except ? [...criteria, { pointer: "/except", keepsOut: meets(id, except) }] : criteria;
}

/**
 * The condition that the product meets all criteria. They stand in the WHERE clause: as a value, `in
 * (select …)` would read all products that meet them.
 */
function meets(id: string, criteria: Criteria): Statement {
  return sql`exists (
    select from products p
    where p.organization_id = ${organization} and p.id = ${id} ${
    viewConditions({ selection: criteria, except: null })
  }
  )`;
}
