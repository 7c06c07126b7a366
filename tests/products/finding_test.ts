import { assert, assertEquals } from "@std/assert";
import {
  type App,
  idOfCode,
  openApp,
  type Organization,
} from "../support/app/harness.ts";
import { titlesOf } from "../support/client/searching.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("GET /products", TIMED, async ({ step: it }) => {
  await using app = await openApp();

  await it("sort", (t) => sorting(t, app));
  await it("updated_since", (t) => changes(t, app));
  await it("isbn13, isbn10, product_code", (t) => names(t, app));
  await it("lists of ids", (t) => lists(t, app));
  await it("invalid parameters", (t) => refusals(t, app));
  await it("Link", (t) => links(t, app));
});

async function sorting({ step: it }: Deno.TestContext, app: App) {
  const org = await app.organization();
  // One time more than there are titles, so that two products share a title.
  const rows = [
    ["Zebra", "2026-03-01", "2026-01-01T00:00:00Z", "2026-02-03T00:00:00Z"],
    ["apple", null, "2026-01-02T00:00:00Z", "2026-02-01T00:00:00Z"],
    ["Émile", "2026-01-01", "2026-01-03T00:00:00Z", "2026-02-02T00:00:00Z"],
    ["emma", "2026-02-01", "2026-01-04T00:00:00Z", "2026-02-04T00:00:00Z"],
  ];
  for (const [title, publication_date, created_at, updated_at] of rows) {
    const { id } = await org.create({ title, publication_date });
    await app.sql.begin(async (sql) => {
      // Without triggers, which never decrease updated_at.
      await sql`set local catalogue.writer = 'service'`;
      await sql`
        update products p set created_at = ${created_at}, updated_at = ${updated_at}
        where p.organization_id = ${org.id} and p.id = ${id}
      `;
    });
  }

  const orders = {
    "": ["emma", "Émile", "apple", "Zebra"],
    "created_at": ["Zebra", "apple", "Émile", "emma"],
    "-created_at": ["emma", "Émile", "apple", "Zebra"],
    "updated_at": ["apple", "Émile", "Zebra", "emma"],
    "-updated_at": ["emma", "Zebra", "Émile", "apple"],
    "title": ["apple", "Émile", "emma", "Zebra"],
    "-title": ["Zebra", "emma", "Émile", "apple"],
    "publication_date": ["Émile", "emma", "Zebra", "apple"],
    "-publication_date": ["Zebra", "emma", "Émile", "apple"],
  };
  for (const [sort, titles] of Object.entries(orders)) {
    await it(`orders by "${sort}"`, async () => {
      const query = sort && `?sort=${sort}`;

      assertEquals(await find(org, query), titles);
    });
  }

  for (const key of ["title", "publication_date"]) {
    await it(`orders equal values of ${key} by id, across pages`, async () => {
      const same = await app.organization();
      const created = [];
      for (let i = 0; i < 5; i++) created.push((await same.create()).id);

      const ascending = [];
      const descending = [];
      for (const page of [1, 2, 3, 4, 5]) {
        const { body: { data: [up] } } = await same.get(
          `/api/products?sort=${key}&limit=1&page=${page}`,
        );
        const { body: { data: [down] } } = await same.get(
          `/api/products?sort=-${key}&limit=1&page=${page}`,
        );
        ascending.push(up.id);
        descending.unshift(down.id);
      }

      assertEquals(ascending, created.sort());
      assertEquals(descending, created);
    });
  }

  await it("counts all sorted products", async () => {
    const { body } = await org.get("/api/products?sort=title&limit=3");

    assertEquals(body.meta, { page: 1, limit: 3, total: 4, total_pages: 2 });
  });
}

async function changes({ step: it }: Deno.TestContext, app: App) {
  const org = await app.organization();
  const times = {
    old: "2026-01-31T22:59:59.999Z",
    edge: "2026-01-31T23:00:00.000456Z",
    new: "2026-02-01T00:00:00Z",
  };
  for (const [title, time] of Object.entries(times)) {
    const { id } = await org.create({ title });
    await app.sql.begin(async (sql) => {
      await sql`set local catalogue.writer = 'service'`;
      await sql`
        update products p set updated_at = ${time}
        where p.organization_id = ${org.id} and p.id = ${id}
      `;
    });
  }

  const since = {
    "2026-01-31T23:00:00Z": ["new", "edge"],
    "2026-01-31T23:00:00.000Z": ["new", "edge"],
    "2026-01-31T23:00Z": ["new", "edge"],
    "2026-02-01T00:00:00%2B01:00": ["new", "edge"],
    "2026-02-01T00:00:00+01:00": ["new", "edge"],
    "2026-01-31T18:00:00-05:00": ["new", "edge"],
    "2026-02-01": ["new"],
    "2026-01-31": ["new", "edge", "old"],
    "9999-12-31T23:59:59Z": [],
    "0001-01-01": ["new", "edge", "old"],
  };
  for (const [time, titles] of Object.entries(since)) {
    await it(`finds products changed since ${time}`, async () => {
      const query = `?updated_since=${time}`;

      assertEquals(await find(org, query), titles);
    });
  }

  await it("finds a product again by its own updated_at", async () => {
    const { path } = await org.create({ title: "changed" });
    const { body: { data } } = await org.put(path, { subtitle: "x" });

    const query = `?updated_since=${data.updated_at}&sort=updated_at`;

    assertEquals(await find(org, query), ["changed"]);
  });
}

async function names({ step: it }: Deno.TestContext, app: App) {
  const [org, other] = [await app.organization(), await app.organization()];
  const isbns = { isbn13: "9780306406157", isbn10: "080442957X" };
  const { product } = await org.create({ title: "Emma", ...isbns });
  await org.create({ title: "Persuasion", isbn13: "9780198526636" });
  await other.create({ title: "Theirs", ...isbns });

  const queries = {
    "isbn13=9780306406157": ["Emma"],
    "isbn13=978-0-306-40615-7": ["Emma"],
    "isbn10=080442957X": ["Emma"],
    "isbn10=0-8044-2957-x": ["Emma"],
    [`product_code=${product.product_code}`]: ["Emma"],
    [`product_code=${product.product_code}&isbn13=9780198526636`]: [],
    "product_code=P-": [],
    "isbn13=9780131103627": [],
  };
  for (const [query, titles] of Object.entries(queries)) {
    await it(`finds by ${query.replace(/=P-.{8}/, "=P-…")}`, async () => {
      assertEquals(await find(org, `?${query}`), titles);
    });
  }
}

async function lists({ step: it }: Deno.TestContext, app: App) {
  const org = await app.organization();
  const [announced, forthcoming, active] = await Promise.all(
    ["01", "02", "04"].map((code) =>
      idOfCode(app, "publishing_statuses", code)
    ),
  );
  await org.create({ title: "Anna", publishing_status_id: announced });
  await org.create({ title: "Bruno", publishing_status_id: forthcoming });
  await org.create({
    title: "Clara",
    publishing_status_id: active,
    format_id: org.format,
  });
  await org.create({ title: "Dora" });

  const filter = "publishing_status_id";
  const queries = {
    [`${filter}=${announced}`]: ["Anna"],
    [`${filter}=${announced},${announced}`]: ["Anna"],
    [`${filter}=${announced},${active}`]: ["Clara", "Anna"],
    [`${filter}=${active?.toUpperCase()}, ${forthcoming}`]: ["Clara", "Bruno"],
    [`${filter}=${announced},${active}&format_id=${org.format}`]: ["Clara"],
    [`${filter}=${announced},${active}&search=anna`]: ["Anna"],
    [`${filter}=${org.id},${org.format}`]: [],
    [`${filter}=${Array(100).fill(active)}`]: ["Clara"],
  };
  for (const [i, [query, titles]] of Object.entries(queries).entries()) {
    await it(`finds any id of a list, ${i + 1}`, async () => {
      assertEquals(await find(org, `?${query}`), titles);
    });
  }
}

async function refusals({ step: it }: Deno.TestContext, app: App) {
  const org = await app.organization();
  const invalid = {
    "sort=": "invalid_value",
    "sort=subtitle": "invalid_value",
    "sort=--title": "invalid_value",
    "sort=title,created_at": "invalid_value",
    "updated_since=": "invalid_time",
    "updated_since=yesterday": "invalid_time",
    "updated_since=2026-02-30": "invalid_time",
    "updated_since=2026-02-30T00:00:00Z": "invalid_time",
    "updated_since=2026-02-01T00:00:00": "invalid_time",
    "updated_since=2026-02-01T25:00:00Z": "invalid_time",
    "updated_since=0000-01-01": "invalid_time",
    "updated_since=0001-01-01T00:00:00%2B01:00": "invalid_time",
    "updated_since=9999-12-31T23:59:59-01:00": "invalid_time",
    "isbn13=": "invalid_isbn13",
    "isbn13=9780306406158": "invalid_isbn13",
    "isbn10=080442957": "invalid_isbn10",
    "product_code=": "blank",
    "product_code=%00": "invalid_character",
    "format_id=": "invalid_uuid",
    [`format_id=${org.format},`]: "invalid_uuid",
    [`format_id=${Array(101).fill(org.format)}`]: "too_many",
    "sort=title&sort=title": "duplicate",
  };
  for (const [query, code] of Object.entries(invalid)) {
    await it(`refuses ${query.slice(0, 60)}`, async () => {
      const { status, body } = await org.get(`/api/products?${query}`);

      assertEquals(status, 400);
      assertEquals(body.error.code, "VALIDATION_ERROR");
      assertEquals(body.error.details[0].parameter, query.split("=")[0]);
      assertEquals(body.error.details[0].code, code);
    });
  }
}

async function links({ step: it }: Deno.TestContext, app: App) {
  const org = await app.organization();
  for (const title of ["A", "B", "C", "D", "E"]) await org.create({ title });

  const pages = {
    1: { first: 1, next: 2, last: 3 },
    2: { first: 1, prev: 1, next: 3, last: 3 },
    3: { first: 1, prev: 2, last: 3 },
    9: { first: 1, prev: 3, last: 3 },
  };
  for (const [page, links] of Object.entries(pages)) {
    await it(`links the neighbours of page ${page} (RFC 8288)`, async () => {
      const { headers } = await org.get(`/api/products?limit=2&page=${page}`);

      const expected = Object.entries(links).map(([relation, page]) =>
        `</api/products?limit=2&page=${page}>; rel="${relation}"`
      );
      assertEquals(headers.get("link"), expected.join(", "));
    });
  }

  await it("leads through the whole list, with the same query", async () => {
    const titles: string[] = [];
    let path: string | undefined = "/api/products?sort=title&limit=2&search=";
    while (path) {
      const { headers, body } = await org.get(path);
      titles.push(...titlesOf(body.data));
      path = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }

    assertEquals(titles, ["A", "B", "C", "D", "E"]);
  });

  await it("escapes the search term", async () => {
    const { headers } = await org.get(
      `/api/products?search=${encodeURIComponent('">, é&')}`,
    );

    const query = "search=%22%3E%2C+%C3%A9%26&page=1";
    assertEquals(
      headers.get("link"),
      `</api/products?${query}>; rel="first", </api/products?${query}>; rel="last"`,
    );
  });

  await it("omits a header that would be too long", async () => {
    const { status, headers } = await org.get(
      `/api/products?format_id=${Array(100).fill(org.format)}`,
    );

    assertEquals(status, 200);
    assert(!headers.has("link"));
  });
}

async function find(org: Organization, query: string): Promise<string[]> {
  const { status, body } = await org.get(`/api/products${query}`);
  assertEquals(status, 200);
  assertEquals(body.meta.total, body.data.length);
  return titlesOf(body.data);
}
