import { assert, assertEquals } from "@std/assert";
import { EVENTS } from "../../middleware/events.ts";
import { GUIDES } from "../../routes/guides.ts";
import { VERSION } from "../../schema/version.ts";

const ROOT = new URL("../../", import.meta.url);

/** The pages of the repository. */
const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CLIENT.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "ONIX.md",
  "SHEETS.md",
  "OPERATORS.md",
  "features/history/README.md",
  "features/onix/README.md",
  "features/recipients/README.md",
  "features/sheets/README.md",
  "db/products/README.md",
  "sql/README.md",
  "tests/README.md",
  "tests/bench/README.md",
  "tests/embedded/EVERY_FIELD.md",
  ...GUIDES.map((name) => `routes/docs/guides/${name}.md`),
];

Deno.test("CHANGELOG.md begins with the version of deno.json", async () => {
  const text = await read("CHANGELOG.md");

  assertEquals(/^## (.+)$/m.exec(text)?.[1], VERSION);
});

Deno.test("Every link between the pages leads to a file and a heading", async ({ step: it }) => {
  for (const page of PAGES) {
    await it(page, async () => {
      const links = (await read(page)).matchAll(
        /\]\(([^)#:]*)(?:#([^)]+))?\)/g,
      );
      for (const [link, path, fragment] of links) {
        const target = new URL(
          path || page.split("/").at(-1)!,
          new URL(page, ROOT),
        );
        const text = await Deno.readTextFile(target)
          .catch(() => assert(false, `${link} leads nowhere`));
        if (!fragment) continue;
        const anchors = Array.from(
          text!.matchAll(/^#+ (.+)$/gm),
          ([, heading]) => anchorOf(heading!),
        );
        assert(anchors.includes(fragment), `${link} leads to no heading`);
      }
    });
  }
});

Deno.test("OPERATORS.md lists every event that the service logs", async () => {
  const page = await read("OPERATORS.md");

  const missing = Object.values(EVENTS).filter((message) => !page.includes(`| ${message} `));

  assertEquals(missing, []);
});

function read(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, ROOT));
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");
}
