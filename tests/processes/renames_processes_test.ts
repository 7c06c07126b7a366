import { assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { openApp } from "../support/app/harness.ts";
import { Copy } from "../support/client/copy.ts";
import { startService } from "./service.ts";
import { TIMED } from "../support/app/deadline.ts";

const PRODUCTS = 15_000;

Deno.test({
  ...TIMED,
  name: "A rename reaches the feed although one of two processes is killed",
  // Only one process can open an embedded database.
  ignore: !Deno.env.get("TEST_DATABASE_URL"),
}, async () => {
  await using fresh = await openFreshDatabase();
  const url = fresh.settings.url!;
  await using app = await openApp({}, { url });
  const { sql } = app;
  const org = await app.organization();
  await sql`
    insert into products (organization_id, title, publisher_id)
    select ${org.id}, 'Emma', ${org.publisher} from generate_series(1, ${PRODUCTS}::int)
  `;
  const copy = new Copy(org, app);
  await copy.catchUp("limit=1000");
  const renames = () => sql<{ position: string | null }[]>`table renames`;
  await using victim = await startService(url);
  await using _survivor = await startService(url);

  await org.put(`/api/publishers/${org.publisher}`, { name: "Renamed" });
  // The processes look for renames once a second.
  await eventually(true, async () => {
    const [row] = await renames();
    return row?.position !== null;
  });
  await victim.kill();
  await eventually(0, async () => (await renames()).length, 60_000);

  const changes = await copy.catchUp("limit=1000");
  assertEquals(new Set(changes.map(({ id }) => id)).size, PRODUCTS);
  await copy.assertComplete();
});
