import { assert, assertEquals } from "@std/assert";
import type { DatabaseSettings } from "../../db/database.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { prepare, start } from "../support/app/process.ts";
import { sendTo } from "../support/servers/processes.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { TIMED } from "../support/app/deadline.ts";

/** Time zones behind UTC, and so far ahead that the day usually differs. */
const ZONES = ["America/Los_Angeles", "Pacific/Kiritimati"]
  .slice(0, IS_WHOLE ? 2 : 1);

const DAYS = ["0001-01-01", "1883-11-18", "2024-02-29", "9999-12-31"];

Deno.test({
  ...TIMED,
  name: "Days and times do not depend on the time zones of service and database",
}, async ({ step: it }) => {
  for (const zone of ZONES) {
    await it(zone, async () => {
      if (SETTINGS.url) {
        await using fresh = await openFreshDatabase();
        await checkDaysIn(zone, fresh.settings);
      } else {
        const dataDir = await preparedFolder();
        await checkDaysIn(zone, { ...SETTINGS, dataDir });
      }
    });
  }
});

async function checkDaysIn(
  zone: string,
  settings: DatabaseSettings,
): Promise<void> {
  const { place, key } = await prepare("Zone", settings, async (sql) => {
    const [row] = await sql<
      { name: string }[]
    >`select current_database() as name`;
    await sql.unsafe(`alter database "${row!.name}" set timezone = '${zone}'`);
  });
  await using service = await start({ ...place, TZ: zone });
  const call = sendTo(() => service.origin);
  const headers = { "x-api-key": key, "content-type": "application/json" };

  for (const day of DAYS) {
    const before = new Date().toISOString();
    const { status, body: { data: created } } = await call("/api/products", {
      method: "POST",
      headers,
      body: JSON.stringify({
        title: day,
        publication_date: day,
        product_prices: [{
          currency_code: "GBP",
          valid_from: day,
          valid_to: day,
        }],
      }),
    });
    const { body: { data } } = await call(`/api/products/${created.id}`, {
      headers,
    });
    const found = await call(
      `/api/products?updated_since=${data.updated_at}`,
      { headers },
    );
    const none = await call(
      `/api/products?updated_since=${after(data.updated_at)}`,
      { headers },
    );

    assertEquals(status, 201);
    assertEquals(data, created);
    const [{ valid_from, valid_to }] = data.product_prices;
    assertEquals([data.publication_date, valid_from, valid_to], [
      day,
      day,
      day,
    ]);
    assert(
      before <= data.created_at && data.created_at <= new Date().toISOString(),
    );
    assertEquals([found.body.data[0].id, none.body.meta.total], [data.id, 0]);
  }
}

/** A millisecond later. */
function after(time: string): string {
  return new Date(Date.parse(time) + 1).toISOString();
}
