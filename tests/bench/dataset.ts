import postgres from "postgres";
import { type Checkout, createKey, runCommand } from "./checkout.ts";
import { fill } from "./fill.ts";
import { createRandom } from "./titles.ts";

/** An organization of the data set. */
export interface Organization {
  id: string;
  products: number;
  /** The numbers of its contributors, collections and parent titles. */
  references: number;
}

/** An organization with a key that may write. */
export type Client = Organization & { key: string };

/** The organizations that receive requests. */
export interface Dataset {
  /** The organization with the requested number of products. */
  large: Client;
  /** The organization with 1,000 products. */
  small: Client;
}

/**
 * Migrates the database with the checkout's own commands, and loads the data set:
 * organizations with `products`, a tenth of that and 1,000, and four small ones. The
 * data depends only on the seed. A database that already has the data set keeps it.
 * Throws if the database has other data.
 */
export async function loadDataset(
  checkout: Checkout,
  url: string,
  { products, seed }: { products: number; seed: number },
): Promise<Dataset> {
  const env = { DATABASE_URL: url };
  await runCommand(checkout, env, "migrate");
  await runCommand(checkout, env, "seed");

  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    transform: { undefined: null },
  });
  try {
    const organizations = organizationsOf(products);
    const name = `${products} products, seed ${seed}`;
    if (!await hasDataset(sql, name)) {
      await fill(sql, organizations, createRandom(seed));
      await runCommand(checkout, env, "recount");
      await sql`insert into benchmark.datasets (name) values (${name})`;
    }
    await readIntoMemory(sql);
    const withKey = async (organization: Organization): Promise<Client> => ({
      ...organization,
      key: await createKey(checkout, env, organization.id),
    });
    return {
      large: await withKey(organizations[0]!),
      small: await withKey(organizations[2]!),
    };
  } finally {
    await sql.end();
  }
}

/** Loads the data into memory, so that the first measurement does not read from disk. */
async function readIntoMemory(sql: postgres.Sql): Promise<void> {
  await sql`create extension if not exists pg_prewarm with schema benchmark`;
  await sql`
    select benchmark.pg_prewarm(c.oid)
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')
    order by c.relpages desc
  `;
}

function organizationsOf(products: number): Organization[] {
  const sizes = [products, Math.ceil(products / 10), 1_000, 500, 200, 100, 50];
  return sizes.map((products, i) => ({
    id: `019a0000-0001-7000-8000-00000000000${i}`,
    products,
    references: Math.max(10, Math.floor(products / 10)),
  }));
}

async function hasDataset(sql: postgres.Sql, name: string): Promise<boolean> {
  await sql`create schema if not exists benchmark`;
  await sql`create table if not exists benchmark.datasets (name text primary key)`;
  const [there] = await sql`select name from benchmark.datasets`;
  if (there?.name === name) return true;
  const [foreign] = await sql`select from organizations limit 1`;
  if (!there && !foreign) return false;
  throw new Error(
    `The database has other data (${there?.name ?? "not the benchmark's"}): ` +
      `use an empty one`,
  );
}
