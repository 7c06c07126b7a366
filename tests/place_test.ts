import { assertEquals } from "@std/assert";
import { openConnection } from "../db/connection.ts";
import { Place } from "../db/place.ts";
import { SETTINGS } from "./harness.ts";

Deno.test({
  name: "Place",
  ignore: !SETTINGS.url,
  async fn(t) {
    let opened = 0;
    const place = new Place(() => {
      opened++;
      return openConnection(SETTINGS);
    });
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

    await t.step("opens one for all who use it then", async () => {
      opened = 0;
      await Promise.all([use(), use(), use()]);

      assertEquals([place.isOpen, opened], [true, 1]);
      await place.close(1);
    });
  },
});
