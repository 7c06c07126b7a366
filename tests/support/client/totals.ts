import { assertEquals } from "@std/assert";
import { COUNTED, type Values } from "../data/filters.ts";
import type { App, Organization } from "../app/harness.ts";

/** Expects the totals of lists with no filter, one filter and some pairs of filters to equal counts. */
export async function assertTotals(
  app: App,
  org: Organization,
  values: Values,
  message = "",
): Promise<void> {
  const status = "publishing_status_id";
  const availability = "product_availability_id";
  const format = "format_id";
  const lists = [
    {},
    ...COUNTED.flatMap((column) =>
      values[column].map((value) => ({ [column]: value }))
    ),
    { [status]: values[status][0]!, [format]: values[format][0]! },
    { [availability]: values[availability][1]!, search: "emma" },
  ];
  for (const list of lists) {
    const query = new URLSearchParams({ ...list, limit: "1" });

    const { body } = await org.get(`/api/products?${query}`);

    const rows = await app.sql<{ count: number }[]>`
      select count(*)::int as count
      from products p
      where p.organization_id = ${org.id}
        and to_jsonb(p) @> ${app.sql.json(onlyColumns(list))}
        and (${!("search" in list)} or p.title = 'Emma')
    `;
    assertEquals(body.meta.total, rows[0]!.count, `${query} ${message}`);
  }
}

function onlyColumns({ search: _, ...columns }: Record<string, string>) {
  return columns;
}
