import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { type App, openApp } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

/*
 * The books that lists find: finding_table.txt says how to read it (contract, 4).
 */

const TABLE = new URL("finding_table.txt", import.meta.url);

/** The fields of a book, in order. A name can occur several times. */
type Book = [name: string, text: string][];

/** A question, and the answer. */
interface Line {
  query: string;
  answer: string;
}

/** Books of one organization, and what lists answer. */
interface Section {
  heading: string;
  books: { fields: Book; typed: [text: string, isFound: boolean][] }[];
  lines: Line[];
}

Deno.test("GET /products finds what the table says", async ({ step: it }) => {
  await using app = await openApp();
  const sections = readTable(await Deno.readTextFile(TABLE));
  assert(sections.length > 10);
  for (const { heading, books, lines } of sections) {
    await it(heading, async ({ step: it }) => {
      const org = await app.organization();
      const shelf = new Shelf(app, org);
      const ids: string[] = [];
      for (const { fields } of books) ids.push(await shelf.add(fields));

      for (const [i, { fields, typed }] of books.entries()) {
        if (typed.length === 0) continue;
        await it(fields.join(), async () => {
          for (const [text, isFound] of typed) {
            const query = `limit=100&q=${encodeURIComponent(text)}`;
            const { status, body } = await org.get(`/api/products?${query}`);
            assertEquals(status, 200, text);
            assertEquals(body.meta.total, body.data.length, text);
            const found = body.data.map(({ id }: { id: string }) => id);
            const isAsked = found.includes(ids[i]) && !body.meta.nearest;
            assertEquals(isAsked, isFound, text);
          }
        });
      }
      for (const line of lines) await assertAnswer(org, shelf, line);
    });
  }
});

/** Expects the list to have these titles, or to refuse the last parameter. */
async function assertAnswer(
  org: Organization,
  shelf: Shelf,
  { query, answer }: Line,
): Promise<void> {
  const { status, body } = await org.get(
    `/api/products?${encoded(shelf.filled(query))}`,
  );
  const [, code] = /^! (\w+)$/.exec(answer) ?? [];
  if (code) {
    const parameter = query.split("&").at(-1)!.split("=")[0];
    assertEquals([status, body.error?.code], [400, "VALIDATION_ERROR"], query);
    const [detail] = body.error.details;
    assertEquals([detail.parameter, detail.code], [parameter, code], query);
    return;
  }
  const [, nearest = answer] = /^~ (.*)$/.exec(answer) ?? [];
  assertEquals(body.meta.nearest, nearest === answer ? undefined : true, query);
  const [, titles = nearest, total] = /^(.*) of (\d+|any)$/.exec(nearest) ?? [];
  const expected = titles === "" ? [] : titles.split(" | ");
  assertEquals(status, 200, query);
  const found = body.data.map(({ title }: { title: string }) => title);
  assertEquals(found, expected, query);
  if (total === "any") return;
  assertEquals(body.meta.total, Number(total ?? expected.length), query);
}

/** The query as sent: what is typed is encoded, other values stand as they are sent. */
function encoded(query: string): string {
  return query.split("&").map((parameter) => {
    const [, name, text] = /^(search|q)=(.*)$/s.exec(parameter) ?? [];
    return name ? `${name}=${encodeURIComponent(text!)}` : parameter;
  }).join("&");
}

function readTable(text: string): Section[] {
  const sections: Section[] = [];
  for (const raw of text.split("\n")) {
    if (raw === "" || raw.startsWith("#")) continue;
    const line = raw.replace(
      /\{U\+([0-9A-F]+)\}/g,
      (_, code) => String.fromCodePoint(parseInt(code, 16)),
    );
    const [, heading] = /^== (.+)$/.exec(line) ?? [];
    const [, verdict, typed] = /^ {2}(finds not|finds) +(.+)$/.exec(line) ?? [];
    const [, query, answer] = /^(.*?) ?-> ?(.*)$/s.exec(line) ?? [];
    if (heading) {
      sections.push({ heading, books: [], lines: [] });
      continue;
    }
    const { books, lines } = sections.at(-1)!;
    if (verdict) books.at(-1)!.typed.push([typed!, verdict === "finds"]);
    else if (answer !== undefined) lines.push({ query: query!, answer });
    else books.push({ fields: line.split("; ").map(fieldOf), typed: [] });
  }
  return sections;
}

function fieldOf(text: string): Book[number] {
  const [, name, value] = /^(\w+): (.+)$/s.exec(text)!;
  return [name!, value!];
}

/** The books of a section, and the ids of the records that they name. */
class Shelf {
  readonly #app: App;
  readonly #org: Organization;
  readonly #values = new Map([["unknown", uuidv7()]]);

  constructor(app: App, org: Organization) {
    this.#app = app;
    this.#org = org;
  }

  /** Creates the book, and returns its id. */
  async add(book: Book): Promise<string> {
    const body: Record<string, unknown> = { title: "Untitled" };
    const times: [string, string][] = [];
    const programs: string[] = [];
    for (const [name, text] of book) {
      if (name.endsWith("d_at")) times.push([name, text]);
      else if (name === "program") programs.push(await this.#record("publishing_programs", text));
      else await this.#set(body, name, text);
    }
    const { id, product } = await this.#org.create(body);
    this.#values.set(`code of ${product.title}`, product.product_code);
    for (const program of programs) {
      await this.#org.put(`/api/publishing-programs/${program}/products/${id}`, {});
    }
    for (const [column, time] of times) {
      await this.#app.sql.begin(async (sql) => {
        // Without triggers, which never decrease updated_at.
        await sql`set local catalogue.writer = 'service'`;
        await sql`
          update products set ${sql(column)} = ${time}
          where organization_id = ${this.#org.id} and id = ${id}
        `;
      });
    }
    return id;
  }

  /** The query with the value of each name in braces. */
  filled(query: string): string {
    return query.replace(
      /\{([^}]+)\}/g,
      (all, name) => this.#values.get(name) ?? all,
    );
  }

  /** What a client sends so that the field has the text. */
  async #set(
    body: Record<string, unknown>,
    name: string,
    text: string,
  ): Promise<void> {
    const add = (array: string, entry: object) =>
      body[array] = [...body[array] as object[] ?? [], entry];
    switch (name) {
      case "identifier":
        add("product_identifiers", { product_id_type: "06", id_value: text });
        break;
      case "sku":
        add("product_identifiers", {
          product_id_type: "01",
          id_type_name: "SKU",
          id_value: text,
        });
        break;
      case "language":
        add("languages", { language_role: "01", language_code: text });
        break;
      case "accessibility":
        add("product_form_features", {
          product_form_feature_type: "09",
          product_form_feature_value: text,
        });
        break;
      case "subject":
        add("subjects", {
          subject_scheme_identifier: "93",
          subject_code: text,
        });
        break;
      case "contributor":
        add("contributors", {
          contributor_id: await this.#record("contributors", text),
          contributor_role_id: idOfCode("17", "A01"),
        });
        break;
      case "collection":
      case "series": {
        const id = await this.#record("collections", text);
        add("product_collections", { collection_id: id });
        if (name === "series") body.series_id = id;
        break;
      }
      case "publisher":
      case "imprint":
      case "format":
        body[`${name}_id`] = await this.#record(`${name}s`, text);
        break;
      case "publishing_status":
        this.#values.set(text, idOfCode("64", text)!);
        body[`${name}_id`] = this.#values.get(text);
        break;
      default:
        body[name] = text;
    }
  }

  /** The id of the record with this name, which is created for the first book. */
  async #record(table: string, name: string): Promise<string> {
    const known = this.#values.get(name);
    if (known) return known;
    const id = uuidv7();
    await this.#app.sql`
      insert into ${this.#app.sql(table)} (organization_id, id, name)
      values (${this.#org.id}, ${id}, ${name})
    `;
    this.#values.set(name, id);
    return id;
  }
}
