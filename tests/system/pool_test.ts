import { assertEquals } from "@std/assert";
import { openConnection } from "../../db/connections/connection.ts";
import { Slot } from "../../db/connections/slot.ts";
import { sql } from "../../db/connections/sql.ts";
import { SETTINGS } from "../support/app/harness.ts";

Deno.test({
  name: "A slot",
  ignore: !SETTINGS.url,
  async fn(t) {
    const slot = new Slot(() => openConnection(SETTINGS), 10_000);
    const use = () =>
      slot.run(
        ({ connection }) => connection.send(sql`select 1`),
        performance.now() + 10_000,
        () => {},
      );

    await t.step("keeps a used connection", async () => {
      await use();
      slot.closeUnused();
      await use();
      slot.closeUnused();

      assertEquals(slot.isOpen, true);
    });

    await t.step("closes an unused connection", () => {
      slot.closeUnused();

      assertEquals(slot.isOpen, false);
    });

    await t.step("opens a new connection on its next use", async () => {
      await use();

      assertEquals(slot.isOpen, true);
      await slot.close(1);
    });
  },
});
