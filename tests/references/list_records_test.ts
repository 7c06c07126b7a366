import { assertEquals } from "@std/assert";
import { RECORD_SORTS } from "../../schema/record_query.ts";
import { OWN_TABLES } from "../../schema/records.ts";
import { openApp, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { createRecord, pathOfRecords } from "../support/data/records.ts";

const NAMES = [
  "Zoë Wicomb",
  "zadie smith",
  "Ødegaard",
  "Émile Ajar",
  "emile Zola",
  "100 % true",
  "O'Brien, Flann",
];

/** The tables of records. Some have a search index, some do not. */
Deno.test("Each list of records", async ({ step: it }) => {
  await using app = await openApp();

  for (const table of OWN_TABLES) {
    await it(`GET ${pathOfRecords(table)}`, async ({ step: it }) => {
      const org = await app.organization();
      const path = pathOfRecords(table);
      const seeds = (await org.get(path)).body.data as { id: string }[];
      for (const { id } of seeds) await org.delete(`${path}/${id}`);
      for (const name of NAMES) await createRecord(org, table, name);
      const other = await app.organization();
      await createRecord(other, table, "Émile Ajar");

      const named = async (query: string) => {
        const { status, body } = await org.get(`${path}?${query}`);
        assertEquals(status, 200, query);
        assertEquals(body.meta.total, body.data.length, query);
        return body.data.map(({ name }: { name: string }) => name);
      };

      await it("sorts by name, ignoring case and accents", async () => {
        const sorted = await named("");
        assertEquals(sorted, [
          "100 % true",
          "Émile Ajar",
          "emile Zola",
          "O'Brien, Flann",
          "zadie smith",
          "Zoë Wicomb",
          "Ødegaard",
        ]);
        assertEquals(await named("sort=-name"), sorted.toReversed());
      });

      await it("sorts by created_at and updated_at", async () => {
        assertEquals(await named("sort=created_at"), NAMES);
        assertEquals(await named("sort=-created_at"), NAMES.toReversed());
        assertEquals(await named("sort=updated_at"), NAMES);
        assertEquals(await named("sort=-updated_at"), NAMES.toReversed());
      });

      await it("search matches parts of names, like the search of products", async () => {
        const found: [string, string[]][] = [
          ["EMILE", ["Émile Ajar", "emile Zola"]],
          ["ajar émi", ["Émile Ajar"]],
          ['"emile a"', ["Émile Ajar"]],
          ["e a", [
            "Émile Ajar",
            "emile Zola",
            "O'Brien, Flann",
            "zadie smith",
            "Ødegaard",
          ]],
          ["%", ["100 % true"]],
          ["_", []],
          ["'", ["O'Brien, Flann"]],
          ["wicomb zola", []],
          [" ", await named("")],
        ];
        for (const [term, names] of found) {
          assertEquals(
            await named(`search=${encodeURIComponent(term)}`),
            names,
            term,
          );
        }
      });

      await it("name matches the exact name", async () => {
        for (const name of NAMES) {
          assertEquals(await named(`name=${encodeURIComponent(name)}`), [name]);
        }
        assertEquals(await named("name=E\u0301mile \u00a0 Ajar "), [
          "Émile Ajar",
        ]);
        assertEquals(await named("name=Emile Ajar"), []);
        assertEquals(await named("name=zadie"), []);
        assertEquals(await named("name=zadie smith&search=zoe"), []);
      });

      await it("returns each record once across pages", async () => {
        assertEquals(await walk(org, `${path}?limit=2`), await named(""));
        const { body } = await org.get(`${path}?page=9&limit=2`);
        assertEquals(body.data, []);
        assertEquals(body.meta, {
          page: 9,
          limit: 2,
          total: 7,
          total_pages: 4,
        });
      });
    });
  }
});

const it = testsOf("Lists of records");

it("refuse unknown and invalid parameters", async ({ org }) => {
  const wrong: [string, string, string][] = [
    ["page=0", "page", "invalid_number"],
    ["limit=x", "limit", "invalid_number"],
    ["sort=title", "sort", "invalid_value"],
    ["name=", "name", "blank"],
    ["include=products", "include", "unknown_parameter"],
    ["name=a&name=b", "name", "duplicate"],
    ["search=%00", "search", "invalid_character"],
  ];
  for (const [query, parameter, code] of wrong) {
    const { status, body } = await org.get(`/api/publishers?${query}`);

    assertEquals(status, 400, query);
    assertEquals(
      body.error.details.map((detail: Record<string, string>) => [
        detail.parameter,
        detail.code,
      ]),
      [[parameter, code]],
    );
  }
});

it("return records with the same name once across pages", async ({ org }) => {
  const ids = new Set<string>();
  for (let i = 0; i < 5; i++) {
    ids.add((await createRecord(org, "titles", "Twin")).id);
  }
  for (const sort of RECORD_SORTS) {
    const found = new Set<string>();
    for (let page = 1; page <= 5; page++) {
      const { body: { data, meta } } = await org.get(
        `/api/titles?name=Twin&limit=1&page=${page}&sort=${sort}`,
      );
      assertEquals(meta.total, 5);
      found.add(data[0].id);
    }
    assertEquals(found, ids, sort);
  }
});

it("include a name written by SQL that is too long for the index", async ({ org, sql }) => {
  const name = "ü".repeat(10_000);
  await sql`insert into titles (organization_id, name) values (${org.id}, ${name})`;

  const { body } = await org.get("/api/titles?search=üüü");

  assertEquals(body.data.map((title: { name: string }) => title.name), [name]);
});

/** The names on all pages, read by following the links. */
async function walk(org: Organization, path: string): Promise<string[]> {
  const names: string[] = [];
  for (let next: string | undefined = path; next;) {
    const { headers, body } = await org.get(next);
    names.push(...body.data.map(({ name }: { name: string }) => name));
    next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
  return names;
}
