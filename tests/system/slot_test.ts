import { assertEquals } from "@std/assert";
import { openConnection } from "../../db/connections/connection.ts";
import { Place } from "../../db/connections/slot.ts";
import { SETTINGS } from "../support/harness.ts";

Deno.test({
  name: "Place",
  ignore: !SETTINGS.url,
  async fn(t) {
    const place = new Place(() => openConnection(SETTINGS));
    const use = async () => {
      const { sql } = await place.connection();
      await sql`select 1`;
    };

    await t.step("keeps a connection that is used", async () => {
      await use();
      place.closeUnused();
      await use();
      place.closeUnused();

      assertEquals(place.isOpen, true);
    });

    await t.step("closes one that nobody has used for a while", () => {
      place.closeUnused();

      assertEquals(place.isOpen, false);
    });

    await t.step("opens another when it is used again", async () => {
      await use();

      assertEquals(place.isOpen, true);
      await place.close(1);
    });
  },
});
