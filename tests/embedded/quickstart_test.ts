import { assertEquals, assertMatch } from "@std/assert";
import { emptyFields } from "../support/data/filled_fields.ts";
import { freePort } from "../support/app/port.ts";
import { ROOT } from "../support/app/process.ts";

const QUICKSTART = new URL("../../QUICKSTART.md", import.meta.url);

Deno.test("QUICKSTART.md makes a complete product and a second key", async () => {
  const port = String(freePort());
  const dataDir = await Deno.makeTempDir();
  const text = await Deno.readTextFile(QUICKSTART);
  const commands = Array.from(
    text.replaceAll("8000", port).matchAll(/```sh\n(.*?)```/gs),
    ([, code]) => code!,
  );
  const stop = "wait || true";

  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euc", [...commands, stop].join("\n")],
    cwd: ROOT,
    env: {
      API_PREFIX: "",
      DATA_DIR: dataDir,
      DATABASE_URL: "",
      HOST: "",
      LOG_LEVEL: "error",
      NO_COLOR: "1",
      PORT: port,
    },
  }).output();

  const printed = new TextDecoder().decode(stdout);
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""], printed);
  const responses = printed.slice(printed.indexOf("{"))
    .split(/(?<=\})(?=\{"success")/)
    // deno-lint-ignore no-explicit-any
    .map((response) => JSON.parse(response) as any);
  assertEquals(responses.every(({ success }) => success), true, printed);
  const [product, key] = responses.slice(-2).map(({ data }) => data);
  assertEquals(emptyFields("Product", product), []);
  assertMatch(key.key, /^cat_/);
  assertEquals(key.scope, "read");
  await Deno.remove(dataDir, { recursive: true });
});
