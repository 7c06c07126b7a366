import { assert, assertEquals, assertMatch } from "@std/assert";
import { openApp } from "../support/harness.ts";
import { runTool, TOOLS } from "../support/tools.ts";

const README = new URL("../../README.md", import.meta.url);

Deno.test("The typed client of README.md", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    handler: app.handler,
    onListen() {},
  });
  const env = {
    BASE_URL: `http://127.0.0.1:${server.addr.port}/api`,
    KEY: org.key,
  };
  const cwd = await Deno.makeTempDir();
  const { sh: [types, curl], ts: [client] } = await blocks("A typed client");

  await t.step("has the types of the description", async () => {
    const npx = `npx() { "${Deno.execPath()}" run -A -q --frozen ` +
      `--config "${TOOLS}" "$@"; }\n`;

    await shell(npx + types, { cwd, env });

    const made = await Deno.readTextFile(`${cwd}/catalogue.ts`);
    assertMatch(made, /export interface paths/);
  });

  await t.step("creates, updates and finds a product", async () => {
    await Deno.writeTextFile(`${cwd}/client.ts`, client!);

    const { success, output, complaints } = await runTool(
      ["--check", "client.ts"],
      { cwd, env },
    );

    assert(success, complaints);
    assertEquals(output, "1 Emma\n");
    const { body } = await org.get("/api/products");
    const { body: { data } } = await org.get(
      `/api/products/${body.data[0].id}`,
    );
    assertEquals(data.product_prices[0].retail_price, 8.99);
  });

  await t.step("sends each operation with curl", async () => {
    const output = await shell(curl!, { cwd, env });

    const [listed, got, updated, deleted] = output
      .split(/(?<=\})(?=\{"success")/)
      // deno-lint-ignore no-explicit-any
      .map((text) => JSON.parse(text) as any);
    assertEquals(listed.meta.total, 2);
    assertEquals(got.data.isbn13, "9780141439587");
    assertEquals(updated.data.page_count, 474);
    assertEquals(updated.data.isbn13, null);
    assertEquals(deleted.data, { id: got.data.id, deleted: true });
  });

  await Deno.remove(cwd, { recursive: true });
});

/** The code of a section of README.md, by its language. */
async function blocks(heading: string) {
  const readme = await Deno.readTextFile(README);
  const [, section = ""] = readme.split(`\n## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  const found = { sh: [] as string[], ts: [] as string[] };
  for (const [, language, code] of text.matchAll(/```(sh|ts)\n(.*?)```/gs)) {
    found[language as "sh" | "ts"].push(code!);
  }
  return found;
}

async function shell(
  script: string,
  options: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euc", script],
    ...options,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
