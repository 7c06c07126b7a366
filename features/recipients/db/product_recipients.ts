import { isOpen, type View } from "../../../schema/view.ts";
import {
  joined,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { productNotFound } from "../../../db/products/errors.ts";
import { viewConditions } from "../../../db/products/view.ts";
import { rfc3339 } from "../../../db/times.ts";

/* Lists the recipients that see a product, and for the others the criteria that hide it. */

/** A recipient with its access to one product. */
export interface ProductRecipient {
  id: string;
  name: string;
  in_view: boolean;
  since: string | null;
  /** JSON Pointers to the criteria that keep the product out. */
  because: string[];
}

/** Every recipient of the organization, by name. Throws `NOT_FOUND`. */
export async function listProductRecipients(
  database: Queries,
  id: string,
): Promise<ProductRecipient[]> {
  const all = await database.scan(
    sql<{ id: string; name: string; view: View; since: string | null }>`
    select r.id, r.name, r.view, ${rfc3339("m.changed_at")} as since
    from recipients r
    left join lateral (
      select m.changed_at
      from recipient_products m
      where m.organization_id = ${organization} and m.recipient_id = r.id and m.product_id = ${id}
        and m.is_there
      limit 1
    ) m on true
    where r.organization_id = ${organization}
    order by left(r.name_key, 200), r.id
  `,
  );
  const criteriaOfAll = all.map(({ view }) => criteriaOf(view));
  const conditions = criteriaOfAll.flatMap((criteria) => criteria.map(({ keepsOut }) => keepsOut));
  const [product] = await database.scan(unprepared(sql<{ kept_out: boolean[] }>`
    select ${
    conditions.length > 0 ? sql`to_json(array[${joined(conditions)}])` : raw("'[]'::json")
  } as kept_out
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
  `));
  if (!product) throw productNotFound(id);
  const { kept_out: keptOut } = product;
  return all.map(({ id, name, view, since }, i) => {
    const own = keptOut.splice(0, criteriaOfAll[i]!.length);
    const because = criteriaOfAll[i]!.flatMap(({ pointer }, j) => own[j] ? pointer : []);
    const isIn = because.length === 0;
    return { id, name, in_view: isIn, since: isIn && !isOpen(view) ? since : null, because };
  });
}

/** Returns the criteria of a view, each with the SQL condition that it hides product `p`. */
function criteriaOf({ selection, except }: View): { pointer: string; keepsOut: Statement }[] {
  const criteria = Object.entries(selection).map(([name, value]) => ({
    pointer: `/selection/${name}`,
    keepsOut: sql`(true ${
      viewConditions({ selection: { [name]: value }, except: null })
    }) is not true`,
  }));
  if (!except) return criteria;
  const conditions = viewConditions({ selection: except, except: null });
  return [...criteria, { pointer: "/except", keepsOut: sql`(true ${conditions}) is true` }];
}
