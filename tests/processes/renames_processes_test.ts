import { assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { Copy } from "../support/client/copy.ts";
import { processTest } from "../support/servers/processes.ts";

const PRODUCTS = 15_000;

processTest(
  "A rename reaches the feed although one of two processes is killed",
  2,
  async ({ app, services: [victim] }) => {
    const { sql } = app;
    const org = await app.organization();
    await sql`
    insert into products (organization_id, title, publisher_id)
    select ${org.id}, 'Emma', ${org.publisher} from generate_series(1, ${PRODUCTS}::int)
  `;
    const copy = new Copy(org, app);
    await copy.catchUp("limit=1000");
    const renames = () => sql<{ position: string | null }[]>`table renames`;

    await org.put(`/api/publishers/${org.publisher}`, { name: "Renamed" });
    // The processes look for renames once a second.
    await eventually(true, async () => {
      const [row] = await renames();
      return row?.position !== null;
    });
    await victim!.kill();
    await eventually(0, async () => (await renames()).length, 60_000);

    const changes = await copy.catchUp("limit=1000");
    assertEquals(new Set(changes.map(({ id }) => id)).size, PRODUCTS);
    await copy.assertComplete();
  },
);
