import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ROOT } from "../support/app/process.ts";
import { TIMED } from "../support/app/deadline.ts";

/** A port without a listener. */
const NOWHERE = "postgres://catalogue@127.0.0.1:1/catalogue";

Deno.test("An invalid command line", TIMED, async ({ step: it }) => {
  const parent = await Deno.makeTempDir();
  const dataDir = `${parent}/none`;

  const wrong = {
    "key": "key create|list|revoke",
    "key --nonsense": "key create|list|revoke",
    "toString":
      "migrate|seed|recount|organization|key|member|webhook|readiness|history|export|import|doctor",
    "key create --organization --name Web": "key create --organization ID --name NAME",
    "key create --name Web": "key create --organization ID --name NAME",
    "organization create": "organization create NAME",
    "organization list all": "organization list [--json]",
    "doctor --nonsense": "doctor",
    "doctor \x1b[2J\x9b\u202e": "doctor",
  };
  for (const [line, usage] of Object.entries(wrong)) {
    await it(`"${line}" is refused before it opens a database`, async () => {
      const { code, stdout, stderr } = await new Deno.Command(
        Deno.execPath(),
        {
          args: [
            "run",
            "--quiet",
            "-A",
            "db/commands/cli.ts",
            ...line.split(" "),
          ],
          cwd: ROOT,
          env: { DATABASE_URL: "", DATA_DIR: dataDir, NO_COLOR: "1" },
        },
      ).output();

      assertEquals([code, text(stdout)], [1, ""]);
      assertMatch(text(stderr), /^[^\p{Cc}\p{Bidi_Control}]+\n$/u);
      assertStringIncludes(text(stderr), `; usage: deno task ${usage}`);
      const isLacking = text(stderr).startsWith("--organization needs a value; ");
      assertEquals(isLacking, line.includes("--organization --name"));
      assertEquals(Array.from(Deno.readDirSync(parent)), []);
    });
  }

  await Deno.remove(parent, { recursive: true });
});

Deno.test(
  "--help of a task",
  TIMED,
  async ({ step: it }) => {
    for (const task of ["start", "load", "bench", "soak"]) {
      await it(`deno task ${task} --help opens no database`, async () => {
        const { code, stdout, stderr } = await new Deno.Command(
          Deno.execPath(),
          {
            args: ["task", "-q", task, "--help"],
            cwd: ROOT,
            env: { DATABASE_URL: NOWHERE, NO_COLOR: "1" },
          },
        ).output();

        assertEquals([code, text(stderr)], [0, ""]);
        assertStringIncludes(text(stdout), `deno task ${task}`);
      });
    }
  },
);

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
