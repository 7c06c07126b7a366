import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { emptyFields } from "../support/data/filled_fields.ts";
import { freePort } from "../support/app/port.ts";
import { emptyFolder } from "../support/app/prepared_folder.ts";
import { ROOT } from "../support/app/process.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { TIMED } from "../support/app/deadline.ts";

const PAGE = new URL("EVERY_FIELD.md", import.meta.url);

Deno.test({
  ...TIMED,
  name: "EVERY_FIELD.md makes a complete product and a second key",
}, async () => {
  const { code, printed, complaints } = await run((script) => script);

  assertEquals([code, complaints], [0, ""], printed);
  const responses = printed.slice(printed.indexOf("{"))
    .split(/(?<=\})(?=\{"success")/)
    // deno-lint-ignore no-explicit-any
    .map((response) => JSON.parse(response) as any);
  assertEquals(responses.every(({ success }) => success), true, printed);
  const [product, key] = responses.slice(-2).map(({ data }) => data);
  assertEquals(emptyFields("Product", product), []);
  assertMatch(key.key, /^cat_/);
  assertEquals(key.scope, "read");
});

Deno.test({
  ...TIMED,
  name: "EVERY_FIELD.md stops at the first error, and shows it",
  ignore: !IS_WHOLE,
}, async () => {
  const { code, printed, complaints } = await run((script) =>
    script.replace('"#1d4ed8"', '"blue"')
  );

  assertEquals(code === 0, false);
  assertStringIncludes(complaints, '"pointer":"/badge_colour"');
  assertEquals(complaints.split("VALIDATION_ERROR").length, 2, complaints);
  assertEquals(printed.includes("Emma"), false);
});

Deno.test({
  ...TIMED,
  name: "EVERY_FIELD.md says that a service runs already",
}, async () => {
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
  }, () => new Response("Live"));
  const { port } = server.addr;

  const { code, printed, complaints } = await run((script) =>
    script.replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${port}`)
  );

  assertEquals([code, printed], [1, ""]);
  assertStringIncludes(complaints, "A service runs at port");
});

/** Runs the commands of the page, changed by a function, on a database of their own. */
async function run(change: (script: string) => string) {
  const port = String(freePort());
  const dataDir = await emptyFolder();
  const text = await Deno.readTextFile(PAGE);
  const commands = Array.from(
    text.replaceAll("8000", port).matchAll(/```sh\n(.*?)```/gs),
    ([, code]) => code!,
  );
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", change([...commands, "wait || true"].join("\n"))],
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
  const decoder = new TextDecoder();
  return {
    code,
    printed: decoder.decode(stdout),
    complaints: decoder.decode(stderr),
  };
}
