import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { cursor } from "../../db/commands/arguments.ts";
import { COMMANDS } from "../../db/commands/commands.ts";
import { exportMessage } from "../../db/onix/export.ts";
import { eventually } from "../support/app/eventually.ts";
import { openApp } from "../support/app/harness.ts";
import { commandsOn } from "../support/client/transfer.ts";
import { isbnOf, message, productsIn, record } from "../support/data/onix.ts";

Deno.test("deno task import and export with ONIX", async (t) => {
  await using app = await openApp();
  const folder = await Deno.makeTempDir();
  const database = commandsOn(app);

  /** Imports a file with this content. */
  async function imported(
    organization: string,
    content: string | Uint8Array,
  ): Promise<unknown> {
    const path = `${folder}/message.xml`;
    await Deno.writeFile(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    const work = COMMANDS["import"]!.parse([
      "--organization",
      organization,
      path,
    ]);
    return await work({
      environment: () => undefined,
      connect: (id) => Promise.resolve(database(id)),
    });
  }

  await t.step("import recognizes XML in any encoding", async () => {
    const org = await app.organization();
    const text = message(record());
    const utf16 = new Uint8Array(
      Uint16Array.from(
        "\ufeff" + text.replace("UTF-8", "UTF-16"),
        (char) => char.charCodeAt(0),
      ).buffer,
    );

    assertEquals(await imported(org.id, text), "Imported 1 records");
    assertEquals(await imported(org.id, `\ufeff${text}`), "Imported 1 records");
    assertEquals(await imported(org.id, utf16), "Imported 1 records");

    const { body } = await org.get("/api/products");
    assertEquals(body.meta.total, 1);
  });

  await t.step("import fails if a record is rejected", async () => {
    const org = await app.organization();

    await assertRejects(
      () =>
        imported(
          org.id,
          message(record(), record({ reference: "x", isbn: "9780141439588" })),
        ),
      Error,
      "1 of 2 records were rejected",
    );
  });

  await t.step(
    "import fails at the line of a fault, after the records before",
    async () => {
      const org = await app.organization();

      await assertRejects(
        () =>
          imported(
            org.id,
            message(record()).replace("</ONIXMessage>", "</Product>"),
          ),
        Error,
        "Line ",
      );
      const { body } = await org.get("/api/products");
      assertEquals(body.meta.total, 1);
    },
  );

  await t.step("export writes one message, and then only changes", async () => {
    const org = await app.organization();
    await imported(
      org.id,
      message(record(), record({ reference: "r2", isbn: isbnOf(2) })),
    );
    let next: string | undefined;

    /** The products that an export has, since the one before. */
    async function exported(): Promise<string[]> {
      let text = "";
      next = await exportMessage(database(org.id), {
        release: "3.0",
        tags: "reference",
        after: cursor(next),
        write(chunk) {
          text += chunk;
          return Promise.resolve(true);
        },
      });
      assertMatch(text, /^<\?xml/);
      assertMatch(text, /<\/ONIXMessage>\s*$/);
      return productsIn(text);
    }

    const first: string[] = [];
    await eventually(2, async () => first.push(...await exported()));
    await imported(org.id, message(record({ title: "Changed" })));
    const later: string[] = [];
    await eventually(1, async () => later.push(...await exported()));
    assertMatch(later[0]!, /<TitleText>Changed</);
  });

  await Deno.remove(folder, { recursive: true });
});
