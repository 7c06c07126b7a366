import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import {
  type App,
  idOfCode,
  openApp,
  type Organization,
} from "../support/app/harness.ts";

/*
 * What people type, and whether `q` finds the book: finding_table.txt (contract, 4).
 */

const TABLE = new URL("finding_table.txt", import.meta.url);

/** A book of the table, and what people type to find it, and others. */
interface Book {
  field: string;
  text: string;
  finds: string[];
  findsNot: string[];
}

Deno.test("GET /products?q= finds what the table says", async ({ step: it }) => {
  await using app = await openApp();
  const books = readTable(await Deno.readTextFile(TABLE));
  assert(books.length > 40);
  const org = await app.organization();
  const shelf: (Book & { id: string })[] = [];
  for (const book of books) {
    const { id } = await org.create({
      title: "Untitled",
      ...await bodyOf(app, org, book),
    });
    shelf.push({ ...book, id });
  }

  for (const { field, text, finds, findsNot, id } of shelf) {
    await it(`${field} ${text}`, async () => {
      const found: string[] = [];
      for (const typed of [...finds, ...findsNot]) {
        const { status, body } = await org.get(
          `/api/products?limit=100&q=${encodeURIComponent(typed)}`,
        );
        assertEquals(status, 200, typed);
        assertEquals(body.meta.total, body.data.length, typed);
        if (body.data.some((book: { id: string }) => book.id === id)) {
          found.push(typed);
        }
      }
      assertEquals(found, finds);
    });
  }
});

function readTable(text: string): Book[] {
  const books: Book[] = [];
  const lines = text
    .replace(
      /\{U\+([0-9A-F]+)\}/g,
      (_, code) => String.fromCodePoint(parseInt(code, 16)),
    )
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) {
    const [, verdict, typed] = /^ {2}(finds not|finds) +(.+)$/.exec(line) ?? [];
    if (verdict) {
      const { finds, findsNot } = books.at(-1)!;
      (verdict === "finds" ? finds : findsNot).push(typed!);
    } else {
      const [, field, text] = /^(\w+): (.+)$/.exec(line)!;
      books.push({ field: field!, text: text!, finds: [], findsNot: [] });
    }
  }
  return books;
}

/** What a client sends so that the field has the text. */
async function bodyOf(
  app: App,
  org: Organization,
  { field, text }: Book,
): Promise<object> {
  const named = async (table: string) => {
    const id = uuidv7();
    await app.sql`
      insert into ${app.sql(table)} (organization_id, id, name)
      values (${org.id}, ${id}, ${text})
    `;
    return id;
  };
  switch (field) {
    case "identifier":
      return {
        product_identifiers: [{ product_id_type: "06", id_value: text }],
      };
    case "contributor":
      return {
        contributors: [{
          contributor_id: await named("contributors"),
          contributor_role_id: await idOfCode(app, "contributor_roles", "A01"),
        }],
      };
    case "collection":
      return {
        product_collections: [{ collection_id: await named("collections") }],
      };
    case "publisher":
    case "imprint":
      return { [`${field}_id`]: await named(`${field}s`) };
    default:
      return { [field]: text };
  }
}
