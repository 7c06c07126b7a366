import type postgres from "postgres";
import type { Organization } from "./dataset.ts";

/** Values in the data that requests use. */
export interface Samples {
  /** The publishing status of 60 % of the products. */
  commonStatus: string;
  /** Roles of contributors. */
  author: string;
  illustrator: string;
  /** A word in few titles. */
  rareWord: string;
  isbn13: string;
  productCode: string;
}

/** Selects the samples from the organization's data. */
export async function readSamples(
  sql: postgres.Sql,
  { id, products }: Organization,
): Promise<Samples> {
  const [codes] = await sql`
    select
      (select id from publishing_statuses where code = '04') as "commonStatus",
      (select id from contributor_roles where code = 'A01') as author,
      (select id from contributor_roles where code = 'A12') as illustrator
  `;
  const [product] = await sql`
    select isbn13, product_code as "productCode"
    from products
    where organization_id = ${id} and id = benchmark.id('00', ${
    1_000_001 + Math.floor(products / 2)
  })
  `;
  const [word] = await sql`
    select word as "rareWord"
    from products
    cross join regexp_split_to_table(lower(title), ' ') word
    where organization_id = ${id} and length(word) > 5
    group by word
    having count(*) = 3
    order by word
    limit 1
  `;
  return { ...codes, ...product, ...word } as Samples;
}
