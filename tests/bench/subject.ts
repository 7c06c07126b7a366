import { type Checkout, createKey, runCommand, startService } from "./checkout.ts";
import { type Cluster, createDatabase, query } from "./cluster.ts";
import type { Contestant } from "./contest.ts";
import { type Client, fill, readData, SMALL, STATUSES } from "./data.ts";
import { call } from "./requests.ts";

/** A checkout that serves its own database. */
export interface Subject extends Contestant {
  checkout: Checkout;
  databaseUrl: string;
  /** The size of the filled database, in MB. */
  disk: number;
}

/**
 * Starts the checkout's service on a database of its own, which its commands migrate,
 * and fills two organizations, unless an earlier run did.
 */
export async function startSubject(
  checkout: Checkout,
  cluster: Cluster,
  options: { products: number; seed: number },
): Promise<Subject> {
  const { products, seed } = options;
  const databaseUrl = await createDatabase(
    cluster,
    `bench_${checkout.name.replace(/\W/g, "_")}_${products}_${seed}`,
  );
  const env = { DATABASE_URL: databaseUrl };
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "catalogue-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const service = stack.use(await startService(checkout, env));
  async function client(name: string, products: number): Promise<Client> {
    const [known] = await query<{ id: string }>(
      databaseUrl,
      `select id from organizations where name = '${name}'`,
    );
    const id = known?.id ??
      (await runCommand(checkout, env, "organization", "create", name)).trim();
    const made = { id, key: await createKey(checkout, env, id) };
    if (!known) await fill(service.origin, made, { products, seed });
    return made;
  }
  const large = await client("Large", products);
  const small = await client("Small", SMALL);
  const command = (...args: string[]) => runCommand(checkout, env, ...args);
  const recipient = await recipientKey(
    service.origin,
    large,
    (...options) => createKey(checkout, env, large.id, ...options),
  );
  const parts = { large, small, recipient, folder, command };
  const data = await readData(service.origin, parts, products);
  await query(databaseUrl, "vacuum analyze");
  await query(databaseUrl, "checkpoint");
  const [size] = await query<{ disk: number }>(
    databaseUrl,
    "select (pg_database_size(current_database()) / 1e6)::float8 as disk",
  );
  const started = stack.move();
  return {
    ...service,
    checkout,
    databaseUrl,
    data,
    disk: size!.disk,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const RECIPIENT = "Everything";

/** Creates a recipient whose criteria every product meets, unless there is one, and a key of it. */
async function recipientKey(
  origin: string,
  { key }: Client,
  create: (...options: string[]) => Promise<string>,
): Promise<string | undefined> {
  const path = `/recipients?name=${RECIPIENT}`;
  const known = await call(origin, key, "GET", path).catch(() => undefined);
  // An older checkout has no recipients.
  if (!known) return;
  if (known.meta.total === 0) {
    const selection = { publishing_status_code: STATUSES };
    await call(origin, key, "POST", "/recipients", { name: RECIPIENT, selection });
  }
  return await create("--recipient", RECIPIENT, "--scope", "read");
}
