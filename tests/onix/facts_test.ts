import { assert, assertEquals } from "@std/assert";
import { elementOf, type Fields, isStored } from "../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../schema/product.ts";
import { MAPPING } from "../../features/onix/schema/mapping/mapping.ts";
import composites from "../../features/onix/schema/rules/composites.txt" with {
  type: "text",
};
import { element } from "../../features/onix/schema/xml/element.ts";
import { dataElement, isInRelease, shortTag } from "../../features/onix/schema/rules/facts.ts";
import { codesOfKind, validValue } from "../../features/onix/schema/rules/kinds.ts";
import { repair } from "../../features/onix/schema/valid/repair.ts";
import { RELEASES, TAGS } from "../../features/onix/schema/rules/releases.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import { leavesOf, without, written } from "./support.ts";
import { VALUES, whole } from "./whole.ts";

/** The fields that ONIX says by the names and codes of what they refer to, or by parts of the record. */
const OTHERWISE = [
  "publishing_status_id",
  "product_availability_id",
  "publisher_id",
  "imprint_id",
  "series_id",
  "product_form_id",
  "product_collections",
  "product_prices",
  "collateral",
];

Deno.test("Every field that has an element has a place in a record", () => {
  const fields: Fields = { ...SCALARS, ...ARRAYS };
  const missing = Object.entries(fields).filter(([name, field]) =>
    (isStored(field) || field.kind === "rows") &&
    elementOf(name, field) !== null && !(name in MAPPING) &&
    !OTHERWISE.includes(name)
  ).map(([name]) => name);
  assertEquals(missing, []);
});

Deno.test("The facts of ONIX", async (t) => {
  const names = new Set(
    composites.replace(/^#.*|\{\w+\}/gm, "").match(/\b[A-Z]\w+/g),
  );

  await t.step("name only elements that they describe", () => {
    const unknown = [...names].filter((name) =>
      !RELEASES.some((release) => isInRelease(release, name))
    );
    assertEquals(unknown, []);
  });

  await t.step("have a short tag for each element", () => {
    const tags = [...names].map(shortTag);
    assertEquals(new Set(tags).size, names.size);
  });

  await t.step("have the codes of each list", () => {
    for (const name of names) {
      const list = Number.parseInt(dataElement(name)?.kind ?? "");
      if (!Number.isNaN(list)) {
        assert(codesOfKind(String(list))!.size > 0, `List ${list}`);
      }
    }
  });

  await t.step("describe the kinds of values", () => {
    for (const [kind, value] of Object.entries(VALUES)) {
      assertEquals(validValue(kind, value), value, kind);
    }
    assertEquals(validValue("d+", "30,80"), "30.80");
    assertEquals(validValue("d+", "0.00"), undefined);
    assertEquals(validValue("91*", "GB XX FR"), "GB FR");
    assertEquals(validValue("5", "99"), undefined);
    assertEquals(
      validValue("uri", "https://harbour.example/a b"),
      "https://harbour.example/a%20b",
    );
    for (
      const time of [
        ...["20240229", "20000229T1200Z", "19041231", "20270430T235959+0130"],
        ...["20280228", "20991030"],
      ]
    ) assertEquals(validValue("timestamp", time), time);
    for (
      const time of [
        ...["20270229", "19000229", "20270230", "20270431", "20271301"],
        ...["20270100", "20270132", "21000101", "20270131T2400", "2027013"],
      ]
    ) assertEquals(validValue("timestamp", time), undefined, time);
  });

  for (const release of RELEASES) {
    for (const choice of [0, 1, 2, 3, 4, 5, 6]) {
      await t.step(`hold a whole record of ${release}: ${choice}`, async () => {
        const record = whole("Product", "", release, choice);
        const { record: repaired, notSent } = repair(record, release, {
          organization: "Harbour",
          identifier: element("ProductIdentifier", []),
        });
        assertEquals(notSent.paths, []);
        assertEquals(without(leavesOf(record), leavesOf(repaired)), []);
        assertEquals(without(leavesOf(repaired), leavesOf(record)), []);
        if (!HAS_SCHEMAS) return;
        for (const tags of TAGS) {
          const text = await written([repaired], release, tags);
          assertEquals(await faultsOf(text, release, tags), "");
        }
      });
    }
  }
});
