import { assert, assertEquals, assertMatch } from "@std/assert";
import { createHash } from "node:crypto";
import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";
import { ONIX_CODES } from "../../schema/onix_codes.ts";

const SEED = await read("../../sql/seed.sql");
const DEMO = await read("../../sql/demo.sql");

/** What stands before the code in the name of an id. */
const NAMES = {
  contributor_roles: "onix:17",
  publishing_statuses: "onix:64",
  product_availabilities: "onix:65",
  product_forms: "onix:150",
  lifecycle_statuses: "lifecycle",
};

Deno.test("seed.sql gives each code its UUIDv5", () => {
  for (const [table, name] of Object.entries(NAMES)) {
    const rows = [
      ...statement(SEED, table).matchAll(/^ +\('(.+?)', '(.+?)'/gm),
    ];

    assert(rows.length > 0, table);
    for (const [, id, code] of rows) assertEquals(id, uuid(`${name}:${code}`));
  }
});

Deno.test("seed.sql labels exactly the codes that the validator knows", () => {
  // The labels of List 65 are the names of product_availabilities.
  const { 65: _, ...labelled } = ONIX_CODES;
  for (const [list, codes] of Object.entries(labelled)) {
    const rows = SEED.matchAll(new RegExp(`^ +\\(${list}, '(.+?)',`, "gm"));

    assertEquals(Array.from(rows, ([, code]) => code), [...codes]);
  }
});

Deno.test("demo.sql has ISBNs with valid check digits", () => {
  const rows = [...DEMO.matchAll(/'(97[89]\d{10})', '(\d{9}[\dX])'/g)];

  assert(rows.length > 20);
  assertEquals(DEMO.match(/'\d{13}'/g)?.length, rows.length);
  assertEquals(DEMO.match(/'\d{9}[\dX]'/g)?.length, rows.length);
  for (const [, isbn13 = "", isbn10 = ""] of rows) {
    const body = isbn10.slice(0, -1);
    assertEquals(isbn10, body + isbn10CheckDigit(body));
    assertEquals(isbn13, `978${body}` + isbn13CheckDigit(isbn13));
  }
});

Deno.test("demo.sql has product codes in the service's form", () => {
  for (const [, code = ""] of DEMO.matchAll(/'(P-.*?)'/g)) {
    assertMatch(code, /^P-[0-9A-HJKMNP-TV-Z]{8}$/);
  }
});

function read(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, import.meta.url));
}

function statement(sql: string, table: string): string {
  const start = sql.indexOf(`insert into ${table} `);
  return sql.slice(start, sql.indexOf(";\n", start));
}

/** RFC 9562, section 5.5, in the URL namespace. */
function uuid(name: string): string {
  const bytes = createHash("sha1")
    .update("6ba7b8119dad11d180b400c04fd430c8", "hex")
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes[6] = bytes[6]! & 0x0f | 0x50;
  bytes[8] = bytes[8]! & 0x3f | 0x80;
  return bytes.toString("hex")
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}
