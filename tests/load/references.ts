import type { Sql } from "../support/sql/script.ts";
import type { Book } from "./book.ts";

/** The ids of the records that products refer to, by name. */
export interface References {
  contributors: Map<string, string>;
  series: Map<string, string>;
  /** The role `A01`: by (author). */
  authorRole: string;
}

/** Creates a contributor per author and a collection per series. */
export async function fillReferences(
  sql: Sql,
  organizationId: string,
  books: Book[],
): Promise<References> {
  const authors = new Set(books.flatMap(({ authors }) => authors));
  const contributors = await sql<Named[]>`
    insert into contributors (organization_id, name)
    select ${organizationId}, name
    from jsonb_array_elements_text(${sql.json([...authors])}) name
    returning id, name
  `;
  const names = new Set(books.flatMap(({ series }) => series ?? []));
  const series = await sql<Named[]>`
    insert into collections (organization_id, name, collection_type)
    select ${organizationId}, name, 'series'
    from jsonb_array_elements_text(${sql.json([...names])}) name
    returning id, name
  `;
  const [role] = await sql<{ id: string }[]>`
    select id from contributor_roles where code = 'A01'
  `;
  return {
    contributors: byName(contributors),
    series: byName(series),
    authorRole: role!.id,
  };
}

interface Named {
  id: string;
  name: string;
}

function byName(rows: readonly Named[]): Map<string, string> {
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** The body of `POST /products` for the book. */
export function bodyOf(
  { product, authors, series }: Book,
  { contributors, series: collections, authorRole }: References,
) {
  const series_id = series && collections.get(series);
  return {
    ...product,
    contributors: authors.map((name) => ({
      contributor_id: contributors.get(name),
      contributor_role_id: authorRole,
    })),
    ...series_id &&
      { series_id, product_collections: [{ collection_id: series_id }] },
  };
}
