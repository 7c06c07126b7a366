import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { VARIABLE_NAMES } from "../../schema/config.ts";
import { TIMED } from "../support/app/deadline.ts";
import { v8FlagsOf } from "../support/app/v8_flags.ts";

const ROOT = new URL("../../", import.meta.url);

/** The sources of the executables in the image, relative to the root of the repository. */
async function modules(): Promise<Set<string>> {
  const paths = [];
  for (const program of ["main.ts", "db/commands/cli.ts"]) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", program],
      cwd: ROOT,
    }).output();
    const graph = JSON.parse(new TextDecoder().decode(stdout)) as {
      modules: { specifier: string }[];
    };
    paths.push(...graph.modules.map(({ specifier }) => specifier));
  }
  return new Set(
    paths.filter((path) => path.startsWith(ROOT.href) && !path.includes("/node_modules/")).map((
      path,
    ) => path.slice(ROOT.href.length).split("/")[0]!),
  );
}

Deno.test("Dockerfile", TIMED, async ({ step: it }) => {
  const [dockerfile, dockerignore] = await Promise.all(
    ["Dockerfile", ".dockerignore"].map((name) => Deno.readTextFile(new URL(name, ROOT))),
  );
  const copied = Array.from(
    dockerfile!.matchAll(/^COPY (.+) \S+$/gm),
    ([, sources]) => sources!.split(" "),
  ).flat();

  await it("copies all files of the service", async () => {
    const needed = await modules();

    assert(needed.size >= 5);
    for (const path of [...needed, "sql"]) assert(copied.includes(path), path);
  });

  await it("gets only the files that it copies", () => {
    const sent = Array.from(
      dockerignore!.matchAll(/^!(.+)$/gm),
      ([, path]) => path,
    );

    assert(dockerignore!.includes("\n*\n"));
    assertEquals(sent.sort(), copied.sort());
  });
});

Deno.test("compose.yaml passes every variable on", TIMED, async () => {
  const text = await Deno.readTextFile(new URL("compose.yaml", ROOT));
  const passed = Array.from(
    text.matchAll(/^ {6}([A-Z_]+):/gm),
    ([, name]) => name!,
  );

  // In the container, these are fixed.
  for (const name of VARIABLE_NAMES) {
    const isFixed = ["DATA_DIR", "HOST", "PORT"].includes(name);
    assertEquals(passed.includes(name), !isFixed, name);
  }
});

Deno.test("The executable runs with the V8 flags of the service", () => {
  const { serve, compile } = config.tasks;

  assertEquals(v8FlagsOf(compile.command), v8FlagsOf(serve.command));
});
