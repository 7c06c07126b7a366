import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { cursor } from "../../features/transfer/commands/transfer.ts";
import { COMMANDS } from "../../db/commands/commands.ts";
import { exportMessage } from "../../features/onix/db/out/export.ts";
import { eventually } from "../support/app/eventually.ts";
import { onixClient } from "../support/client/onix.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { commandsOn, sessionOn } from "../support/client/transfer.ts";
import { gzip } from "../support/data/gzip.ts";
import { isbnOf, message, productsIn, record } from "../support/data/onix.ts";

Deno.test("deno task import and export with ONIX", async (t) => {
  await using app = await openApp();
  const folder = await Deno.makeTempDir();
  const database = commandsOn(app);

  /** Imports a file with this content. */
  async function imported(
    organization: string,
    content: string | Uint8Array,
    ...options: string[]
  ): Promise<unknown> {
    const path = `${folder}/message.xml`;
    await Deno.writeFile(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    const work = COMMANDS["import"]!.parse([
      "--organization",
      organization,
      ...options,
      path,
    ]);
    return await work(sessionOn(app));
  }

  const assertFails = (
    { id }: Organization,
    content: string,
    message: string,
    ...options: string[]
  ) => assertRejects(() => imported(id, content, ...options), Error, message);

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

  await t.step("import unpacks gzip", async () => {
    const org = await app.organization();
    const text = message(record());

    assertEquals(
      await imported(org.id, await gzip(text)),
      "Imported 1 records",
    );
    const error = await assertRejects(
      async () => imported(org.id, (await gzip(text)).slice(0, -9)),
      Error,
    );
    assertMatch(error.message, /The gzip data ends before its end$/);
  });

  await t.step("import says what it would do", async () => {
    const org = await app.organization();
    const bad = record({ reference: "x", isbn: "9780141439588" });

    assertEquals(
      await imported(org.id, message(record()), "--dry-run"),
      "Checked 1 records: nothing was written",
    );
    const both = message(record(), bad);
    const would = "1 of 2 records would be rejected";
    await assertFails(org, both, would, "--dry-run");
    const alone = "--dry-run is for ONIX messages and sheets";
    await assertFails(org, "{}", alone, "--dry-run");
    assertEquals((await org.get("/api/products")).body.meta.total, 0);
  });

  await t.step("import fails if a record is rejected", async () => {
    const org = await app.organization();
    const bad = record({ reference: "x", isbn: "9780141439588" });
    const text = message(record(), bad);
    await assertFails(org, text, "1 of 2 records were rejected");
  });

  await t.step(
    "import fails at the line of a fault, after the records before",
    async () => {
      const org = await app.organization();

      const torn = message(record()).replace("</ONIXMessage>", "</Product>");
      await assertFails(org, torn, "Line ");
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
      ({ next } = await exportMessage(database(org.id), {
        release: "3.0",
        tags: "reference",
        after: cursor(next),
        write(chunk) {
          text += chunk;
          return Promise.resolve();
        },
      }));
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

  await t.step("export counts the records that XML cannot hold", async () => {
    const org = await app.organization();
    for (const title of ["Vertical\u000btab", "Tab\tand &amp;"]) {
      await org.post("/api/products", { title });
    }
    let text = "";
    let replaced = 0;
    // Other transactions of the server hold the feed back.
    await eventually(2, async () => {
      text = "";
      ({ replaced } = await exportMessage(database(org.id), {
        release: "3.0",
        tags: "reference",
        write(chunk) {
          text += chunk;
          return Promise.resolve();
        },
      }));
      return productsIn(text).length;
    });
    assertEquals(replaced, 1);
    assertMatch(text, /<TitleText>Vertical\ufffdtab</);
    assertMatch(text, /<TitleText>Tab and &amp;amp;</);
  });

  await t.step("export is not written again if it is cut off", async () => {
    const org = await app.organization();
    await imported(org.id, message(record()));
    const operations = database(org.id);
    const chunks: string[] = [];

    await assertRejects(
      () =>
        exportMessage({
          ...operations,
          memory: operations.memory,
          lookUp: (statement) => operations.lookUp(statement),
          inBackground: (statements) => operations.inBackground(statements),
          // As after the loss of a connection.
          transaction: async (work, ...opening) => {
            await operations.transaction(work, ...opening);
            return await operations.transaction(work, ...opening);
          },
        }, {
          release: "3.0",
          tags: "reference",
          write: (chunk) => Promise.resolve(void chunks.push(chunk)),
        }),
      Error,
      "The export is incomplete: the connection was lost",
    );
    assertEquals(chunks.join("").split("</ONIXMessage>").length, 2);
  });

  await t.step({
    name: "export writes a snapshot beside an import",
    // The embedded database has one connection.
    ignore: !SETTINGS.url,
    async fn() {
      const org = await app.organization();
      const books = (title: string) =>
        message(
          ...Array.from({ length: 1_200 }, (_, i) =>
            record({ reference: `r${i}`, isbn: isbnOf(i), title })),
        );
      await imported(org.id, books("Before"));
      const client = onixClient(app, org);
      await client.feed(1_200);
      let text = "";

      await exportMessage(database(org.id), {
        release: "3.0",
        tags: "reference",
        async write(chunk) {
          if (text === "") await imported(org.id, books("After"));
          text += chunk;
        },
      });

      const products = productsIn(text);
      assertEquals(products.length, 1_200);
      assert(!text.includes("After"));
    },
  });

  await Deno.remove(folder, { recursive: true });
});
