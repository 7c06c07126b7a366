import { assertEquals } from "@std/assert";
import type { Organization } from "../app/harness.ts";

/** Creates products of these titles. */
export async function shelf(
  org: Organization,
  ...titles: string[]
): Promise<void> {
  for (const title of titles) await org.create({ title });
}

/** The titles found, sorted. The total must equal their number. */
export async function search(
  org: Organization,
  term: string,
): Promise<string[]> {
  const { status, body } = await org.get(
    `/api/products?limit=100&search=${encodeURIComponent(term)}`,
  );
  assertEquals(status, 200, term);
  assertEquals(body.meta.total, body.data.length);
  return titlesOf(body.data).sort();
}

export function titlesOf(products: { title: string }[]): string[] {
  return products.map(({ title }) => title);
}
