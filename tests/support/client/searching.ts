import { assertEquals } from "@std/assert";
import type { App, Organization } from "../app/harness.ts";

/** A new organization with products of these titles. */
export async function shelf(
  app: App,
  ...titles: string[]
): Promise<Organization> {
  const org = await app.organization();
  for (const title of titles) await org.create({ title });
  return org;
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
