import { assert, assertEquals } from "@std/assert";
import { onixTestsOf } from "../support/client/onix.ts";
import { deletionOf, isbnOf, message, record, sent } from "../support/data/onix.ts";
import { xml } from "./records.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const codes = ({ messages }: { messages: { code: string }[] }) => messages.map(({ code }) => code);

/** What is told of a field that both have changed. */
const CONFLICT = {
  keep: ["edit_overwritten"],
  protect: ["edit_kept"],
  overwrite: [],
};

const it = onixTestsOf("Edits stay when the next file comes");

it("an entry's field outlives a change of another", async ({ org, onix, product }) => {
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  const path = `/api/products/${id}/territories`;
  const { body: { data } } = await org.get(path);
  const [territory] = data;
  territory.supply_details[0].prices[0].price_amount = 9.99;
  const put = await org.put(path, data);
  assertEquals(put.status, 200, put.text);

  const report = await onix.report(message(record({ availability: "40" })));

  assertEquals(report.updated, 1);
  const { product_territories: [{ supply_details: [supply] }] } = await product(
    id,
  );
  assertEquals(supply.prices[0].price_amount, 9.99);
  assertEquals(supply.product_availability, "40");
  assertEquals(supply.id, territory.supply_details[0].id);
  assertEquals(supply.prices[0].id, territory.supply_details[0].prices[0].id);
  const xml = await onix.xml(`/${id}`);
  assert(xml.includes("<PriceAmount>9.99<"), xml);
});

it("a long value is cut between characters in a message", async ({ org, onix }) => {
  const title = `${"a".repeat(199)}😀 b`;
  const { outcomes: [{ id }] } = await onix.report(message(record({ title: "One" })));
  await org.put(`/api/products/${id}`, { title });

  const { outcomes: [{ messages }] } = await onix.report(message(record({ title: "Two" })));

  assertEquals(messages.map(({ message }: Any) => message), [
    `The sender has changed this to Two: it takes the place of ${
      "a".repeat(199)
    }…, which was edited here`,
  ]);
});

it("a renamed contributor is not doubled, and keeps what the record says", async ({ org, onix, product }) => {
  const text = (title: string, ...others: string[]) =>
    message(
      record({ title, contributors: ["Ann Old", ...others] }).replace(
        "</PersonName>",
        "</PersonName><Website><WebsiteLink>https://ann.example</WebsiteLink></Website>",
      ),
    );
  const { outcomes: [{ id }] } = await onix.report(text("One"));
  const { contributors: [{ contributor_id }] } = await product(id);
  await org.put(`/api/contributors/${contributor_id}`, { name: "Ann New" });

  await onix.report(text("Two"));
  const kept = await onix.report(text("Two", "Bo Ray"), "?edits=protect");

  assertEquals(codes(kept.outcomes[0]), ["edit_kept"]);
  const { contributors } = await product(id);
  assertEquals(contributors.map((one: Any) => one.contributor_name), [
    "Ann New",
  ]);
  const { body } = await org.get("/api/contributors?search=Ann");
  assertEquals(body.data.length, 1);
  const xml = await onix.xml(`/${id}`);
  assert(/Ann New[^]*ann\.example/.test(xml), xml);
});

it("an edited cover outlives what leaves it alone, and no record that is all", async ({ org, onix, product }) => {
  const text = (title: string, link: string) =>
    message(
      record({ title }).replace(
        "<PublishingDetail>",
        `<CollateralDetail><SupportingResource><ResourceContentType>01</ResourceContentType><ContentAudience>00</ContentAudience><ResourceMode>03</ResourceMode><ResourceVersion><ResourceForm>02</ResourceForm><ResourceLink>https://covers.example/${link}.jpg</ResourceLink></ResourceVersion></SupportingResource></CollateralDetail>$&`,
      ),
    );
  const { outcomes: [{ id }] } = await onix.report(text("One", "theirs"));
  const ours = "https://covers.example/ours.jpg";
  await org.put(`/api/products/${id}`, { cover_image_url: ours });
  const coverAfter = async (text: string, edits: string) => {
    const { outcomes } = await onix.report(text, `?edits=${edits}`);
    const { cover_image_url, supporting_resources } = await product(id);
    const [{ resource_versions: [version] }] = supporting_resources;
    assertEquals(version.resource_links, [cover_image_url]);
    assert((await onix.xml(`/${id}`)).includes(cover_image_url));
    return [cover_image_url.slice(23, -4), ...outcomes.flatMap(codes)];
  };

  assertEquals(await coverAfter(text("Two", "theirs"), "keep"), ["ours"]);
  assertEquals(await coverAfter(text("Two", "next"), "protect"), [
    "ours",
    "edit_kept",
  ]);
  assertEquals(await coverAfter(text("Two", "last"), "keep"), [
    "last",
    "edit_overwritten",
  ]);
  await org.put(`/api/products/${id}`, { cover_image_url: ours });
  assertEquals(await coverAfter(text("Two", "last"), "overwrite"), ["last"]);
});

it("a message older than the last of its sender is skipped", async ({ onix, product }) => {
  const { outcomes: [{ id }] } = await onix.report(
    sent("20261120T1200Z", "A", record({ title: "New" })),
  );
  const older = (at: string, sender: string, title: string, query = "") =>
    onix.report(sent(at, sender, record({ title })), query);

  const stale = await older("20261120T1259+0100", "A", "Old");
  assertEquals(stale.unchanged, 1);
  assertEquals(codes(stale.outcomes[0]), ["stale"]);
  assertEquals((await older("20261119", "A", "Old")).unchanged, 1);
  assertEquals(
    (await older("2026-11-20T11:59:59", "A", "Old")).unchanged,
    1,
  );
  assertEquals((await product(id)).title, "New");
  // A day is its end, another sender is another, and what cannot be read guards nothing.
  assertEquals((await older("20261120", "A", "Day")).updated, 1);
  assertEquals((await older("20261119", "B", "Other")).updated, 1);
  assertEquals((await older("yesterday", "A", "Unreadable")).updated, 1);
  assertEquals((await older("20261120T1300Z", "A", "Old")).unchanged, 1);
  assertEquals(
    (await older("20261119", "A", "Applied", "?stale=apply")).updated,
    1,
  );
});

it("a record that comes again later keeps its time", async ({ onix }) => {
  await onix.report(sent("20261101", "A", record({ title: "A" })));
  await onix.report(sent("20261103", "A", record({ title: "A" })));

  const report = await onix.report(
    sent("20261102", "A", record({ title: "B" })),
  );

  assertEquals(codes(report.outcomes[0]), ["stale"]);
});

it("each sender is compared with its own last record", async ({ org, onix, product }) => {
  const [press, shop] = ["Press", "Shop"].map(
    (sender) => (record: string, query = "") =>
      onix.report(sent("20261101", sender, record), query),
  );
  const ofPress = record({ title: "Emma", pages: 300 });
  const ofShop = record({ title: "EMMA", pages: 320 });
  const { outcomes: [{ id }] } = await press!(ofPress);
  await shop!(ofShop);
  await org.put(`/api/products/${id}`, { subtitle: "Ours" });
  const shown = await product(id);
  assertEquals([shown.title, shown.page_count], ["EMMA", 320]);
  const [feed] = await onix.feed(1);

  // Neither has changed anything, whoever sent the other's before.
  for (const one of [press!(ofPress), shop!(ofShop), press!(ofPress)]) {
    assertEquals((await one).unchanged, 1);
  }
  assertEquals(await product(id), shown);
  assertEquals(await onix.feed(1), [feed]);

  const report = await press!(record({ title: "Emma", pages: 310 }));
  const next = await product(id);
  assertEquals([next.title, next.page_count, next.subtitle], [
    "EMMA",
    310,
    "Ours",
  ]);
  assertEquals(codes(report.outcomes[0]), ["edit_overwritten"]);
  // The export has the last record received, with local values.
  assert((await onix.xml(`/${id}`)).includes("<TitleText>EMMA<"));
  assertEquals((await shop!(ofShop)).unchanged, 1);
  // One that is new is compared with the last of any.
  const other = sent("20261101", "Other", record({ title: "E", pages: 310 }));
  const { messages } = (await onix.report(other)).outcomes[0];
  assertEquals(messages.map(({ path }: { path: string }) => path), [
    "/Product/DescriptiveDetail/TitleDetail/TitleElement/TitleText",
  ]);
  assertEquals((await shop!(ofShop, "?edits=overwrite")).updated, 1);
  assertEquals((await product(id)).subtitle, null);
});

it("each sender is compared with its last record, and with none before it", async ({ org, onix, product }) => {
  const send = (sender: string, pages: number) =>
    onix.report(sent("20261101", sender, record({ pages })));
  const { outcomes: [{ id }] } = await send("Press", 300);
  await send("Shop", 320);
  await send("Press", 310);
  await org.put(`/api/products/${id}`, { page_count: 500 });

  assertEquals((await send("Press", 310)).unchanged, 1);
  assertEquals((await product(id)).page_count, 500);
});

it("a record of every sender is kept, of few at once", async ({ org, onix, sql }) => {
  for (let i = 0; i < 12; i++) {
    const text = record({ title: `Emma ${i}` });
    await onix.report(sent(`202611${10 + i}`, `Sender ${i}`, text));
  }
  const rows = await sql`
    select sender_name from onix_senders
    where organization_id = ${org.id} and record is not null
    order by sent_at
  `;
  assertEquals(
    rows.map(({ sender_name }) => sender_name),
    [3, 4, 5, 6, 7, 8, 9, 10].map((i) => `Sender ${i}`),
  );
});

it("a time that lies ahead guards nothing, and takes no guard away", async ({ onix }) => {
  // On 1 January, its second day of this year would lie ahead.
  const year = new Date().getUTCFullYear() - 1;
  const send = (at: string, title: string, query = "") =>
    onix.report(sent(at, "A", record({ title })), query);
  await send(`${year}0102`, "A");

  const inHours = (hours: number) =>
    new Date(Date.now() + hours * 3_600_000).toISOString()
      .replace(/[-:]|\.\d+/g, "");
  const later = inHours(24.1);
  const ahead = await send(later, "B");
  const [{ code, path, value }] = ahead.outcomes[0].messages;
  assertEquals([ahead.updated, code, path, value], [
    1,
    "future_date",
    "/Header/SentDateTime",
    later,
  ]);
  assertEquals((await send(`${year}0101`, "C")).unchanged, 1);
  assertEquals((await send(`${year}0103`, "D")).updated, 1);
  // The sender's clock was wrong: what is applied counts anew.
  assertEquals((await send(`${year}0101`, "E", "?stale=apply")).updated, 1);
  assertEquals((await send(`${year}0102`, "F")).updated, 1);
  // Clocks differ by less than a day.
  assertEquals((await send(inHours(23.9), "G")).warnings, 0);
  assertEquals((await send(inHours(23.8), "H")).unchanged, 1);
});

const it2 = onixTestsOf("Edits stay when a partial update comes");
/** A partial update with these blocks of a record. */
const partial = (text: string, ...blocks: string[]) =>
  text.replace("<NotificationType>03", "<NotificationType>04").replace(
    /<(\w+Detail|ProductSupply)>[\s\S]*?<\/\1>(?=\s*<(?:\w+Detail|ProductSupply|\/Product)>)/g,
    (block, name) => blocks.includes(name) ? block : "",
  );

for (const edits of ["keep", "protect", "overwrite"] as const) {
  it2(`with edits=${edits}`, async ({ org, onix, product }) => {
    const { outcomes: [{ id }] } = await onix.report(message(record()));
    await org.put(`/api/products/${id}`, {
      page_count: 500,
      subtitle: "Ours",
      publication_date: "2027-02-28",
    });
    const block = "DescriptiveDetail";
    const next = message(
      partial(record({ title: "Emma II", pages: 480 }), block),
    );

    const dry = await onix.report(next, `?edits=${edits}&dry_run=true`);
    const report = await onix.report(next, `?edits=${edits}`);

    assertEquals(dry.outcomes, report.outcomes);
    assertEquals(codes(report.outcomes[0]), CONFLICT[edits]);
    for (const { message } of report.outcomes[0].messages) {
      assert(/480/.test(message) && /500/.test(message), message);
    }
    const { title, page_count, subtitle, publication_date } = await product(
      id,
    );
    assertEquals([title, page_count, subtitle, publication_date], [
      "Emma II",
      edits === "protect" ? 500 : 480,
      edits === "overwrite" ? null : "Ours",
      // Its block was not sent.
      "2027-02-28",
    ]);
  });
}

it2("of the supply of one market", async ({ org, onix, product }) => {
  const markets = (...prices: string[]) =>
    ["GB", "IE"].map((market, i) =>
      /<ProductSupply>[\s\S]*<\/ProductSupply>/.exec(
        record({ price: prices[i]! }),
      )![0].replace(
        "<SupplyDetail>",
        `<MarketReference>${market}</MarketReference><Market><Territory><CountriesIncluded>${market}</CountriesIncluded></Territory></Market><SupplyDetail>`,
      )
    );
  const withMarkets = (text: string, ...supplies: string[]) =>
    text.replace(
      /<ProductSupply>[\s\S]*<\/ProductSupply>/,
      supplies.join(""),
    );
  const whole = withMarkets(record(), ...markets("7.99", "8.99"));
  const { outcomes: [{ id }] } = await onix.report(message(whole));
  const path = `/api/products/${id}/territories`;
  const { body: { data } } = await org.get(path);
  data[0].supply_details[0].prices[0].price_amount = 5.55;
  data[1].supply_details[0].order_time = 7;
  await org.put(path, data);

  const update = withMarkets(
    partial(record(), "ProductSupply"),
    markets("7.99", "9.99")[1]!,
  );
  const report = await onix.report(message(update));

  assertEquals(report.updated, 1);
  const { product_territories } = await product(id);
  assertEquals(
    product_territories.map((
      { supply_details: [{ order_time, prices: [price] }] }: Any,
    ) => [order_time, price.price_amount]),
    [[null, 5.55], [7, 9.99]],
  );
  assertEquals(
    product_territories.map(({ id }: Any) => id),
    data.map(({ id }: Any) => id),
  );
});

it2("whose only supply cannot be read removes the supply before", async ({ onix, product }) => {
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  const update = partial(record(), "ProductSupply").replace(
    "<SupplyDetail>",
    xml("Market(Territory(CountriesIncluded=XQ))") + "$&",
  );

  const { outcomes: [outcome], updated } = await onix.report(message(update));

  assertEquals([updated, codes(outcome)], [1, ["invalid_code"]]);
  assertEquals((await product(id)).product_territories, []);
  assertEquals((await onix.xml(`/${id}`)).includes("7.99"), false);
});

it2(
  "of a supply whose market cannot be read, however often it comes",
  async ({ org, onix, product, sql }) => {
    const supply = (reference: string, country: string, availability = "20") =>
      xml(
        `ProductSupply(MarketReference=${reference} Market(Territory(CountriesIncluded=${country})) SupplyDetail(Supplier(SupplierRole=01 SupplierName=Quay) ProductAvailability=${availability}))`,
      );
    const withSupplies = (text: string, ...supplies: string[]) =>
      message(text.replace(/<ProductSupply>[^]*<\/ProductSupply>/, supplies.join("")));
    const update = (...supplies: string[]) =>
      withSupplies(partial(record(), "ProductSupply"), ...supplies);
    const stored = async () => {
      const [row] = await sql`select record from onix_records where organization_id = ${org.id}`;
      return Array.from(
        row!.record.matchAll(/<MarketReference>(\w+)<[^]*?<CountriesIncluded>(\w+)</g),
        ([, reference, country]) => `${reference} ${country}`,
      );
    };
    const whole = withSupplies(record(), supply("A", "GB"), supply("B", "IE"), supply("C", "FR"));
    const { outcomes: [{ id }] } = await onix.report(whole);

    const first = await onix.report(update(supply("A", "GB", "40"), supply("B", "QQ")));
    const again = await onix.report(update(supply("A", "GB", "40"), supply("B", "QQ")));
    const alone = await onix.report(update(supply("B", "QQ")));

    assertEquals([first.updated, again.unchanged, alone.unchanged], [1, 1, 1]);
    assertEquals(await stored(), ["C FR", "A GB", "B QQ"]);
    const { product_territories } = await product(id);
    assertEquals(
      product_territories.map(({ market_reference }: Any) => market_reference),
      ["C", "A"],
    );
  },
);

const it3 = onixTestsOf("A record finds its product");

it3(
  "by an alias, and by either form of the ISBN",
  async ({ onix, product }) => {
    const { outcomes: [{ id }] } = await onix.report(
      message(record({ reference: "one", isbn: "9780141439587" })),
    );
    const short = record({ reference: "two", title: "Two" }).replace(
      "<ProductIDType>15</ProductIDType><IDValue>9780141439587",
      "<ProductIDType>02</ProductIDType><IDValue>0141439580",
    );

    const second = await onix.report(message(short));
    const third = await onix.report(
      message(record({ reference: "two", isbn: isbnOf(5), title: "Three" })),
    );

    assertEquals(second.outcomes[0].id, id);
    assertEquals(codes(second.outcomes[0]), ["other_reference"]);
    assertEquals(third.outcomes[0].id, id);
    assertEquals((await product(id)).title, "Three");
    assert((await onix.xml(`/${id}`)).includes("<RecordReference>one<"));
    const deleted = await onix.report(message(deletionOf("two")));
    assertEquals(deleted.deleted, 1);
  },
);

it3("and two references of one ISBN are no one product", async ({ onix }) => {
  const report = await onix.report(
    message(record({ reference: "one" }), record({ reference: "two" })),
  );

  assertEquals(
    report.outcomes.map(({ outcome }: { outcome: string }) => outcome),
    ["created", "rejected"],
  );
  assertEquals(codes(report.outcomes[1]), ["isbn_in_use"]);
});

it3(
  "and not by an ISBN that its own record corrects, before or after it",
  async ({ onix, product }) => {
    const placeholders = Array.from(
      { length: 120 },
      (_, i) => record({ reference: `between ${i}`, isbn: isbnOf(100 + i) }),
    );
    await onix.report(message(...placeholders));
    for (const between of [[], placeholders]) {
      for (const order of [["own", "other"], ["other", "own"]]) {
        const name = `${order[0]} ${between.length}`;
        const [one, two] = [isbnOf(31), isbnOf(32)];
        const { outcomes: [{ id }] } = await onix.report(
          message(record({ reference: `own ${name}`, isbn: one })),
        );
        const records: Record<string, string> = {
          own: record({ reference: `own ${name}`, isbn: two }),
          other: record({ reference: `other ${name}`, isbn: one }),
        };
        const [first, last] = order.map((name) => records[name]!);
        const text = message(first!, ...between, last!);

        const tried = await onix.report(text, "?dry_run=true");
        const report = await onix.report(text);

        assertEquals([tried.updated, tried.created], [1, 1], name);
        assertEquals([report.updated, report.created], [1, 1], name);
        const isbns = [];
        for (const { id } of report.outcomes) {
          isbns.push((await product(id)).isbn13);
        }
        assertEquals(isbns.toSorted(), [one, two].toSorted());
        assertEquals((await product(id)).isbn13, two);
        await onix.report(
          message(deletionOf(`own ${name}`), deletionOf(`other ${name}`)),
        );
      }
    }
  },
);

it3(
  "and not in one that the message deletes, before or after it",
  async ({ onix, product }) => {
    for (const order of [["old", "new"], ["new", "old"]]) {
      const isbn = isbnOf(33);
      const reference = `old ${order[0]}`;
      await onix.report(message(record({ reference, isbn })));
      const records: Record<string, string> = {
        old: deletionOf(reference),
        new: record({ reference: `new ${order[0]}`, isbn }),
      };

      const report = await onix.report(
        message(...order.map((name) => records[name]!)),
      );

      assertEquals([report.deleted, report.created], [1, 1]);
      const { id } = report.outcomes.find(({ outcome }: Any) => outcome === "created");
      assertEquals((await product(id)).isbn13, isbn);
      await onix.report(message(deletionOf(`new ${order[0]}`)));
    }
  },
);

it3("and three formats under one reference are told", async ({ onix }) => {
  const format = (isbn: number, form: string) =>
    record({ reference: "one", isbn: isbnOf(isbn), form });
  const report = await onix.report(
    message(format(1, "BC"), format(2, "BB"), format(3, "ED"), format(4, "BC")),
  );

  const told = ["error reference_of_another /Product/RecordReference one"];
  assertEquals(
    report.outcomes.map(({ outcome, messages }: Any) => [
      outcome,
      messages.map(({ severity, code, path, value }: Any) =>
        `${severity} ${code} ${path} ${value}`
      ),
    ]),
    [
      ["unchanged", ["warning superseded /Product null"]],
      ["rejected", told],
      ["rejected", told],
      // An ISBN of the same form is a corrected one.
      ["created", []],
    ],
  );
});

it3(
  "and is created again after it was deleted, which is told",
  async ({ org, onix }) => {
    const { outcomes: [{ id }] } = await onix.report(message(record()));
    await org.delete(`/api/products/${id}`);

    const { created, outcomes } = await onix.report(message(record()));

    assertEquals([created, codes(outcomes[0])], [1, ["created_again"]]);
    assertEquals((await onix.report(message(record()))).unchanged, 1);
  },
);

it3(
  "or is created beside the deletion of what it names",
  async ({ org, onix, sql }) => {
    const shared = {
      isbn: null,
      contributors: ["Ann Lee"],
      collection: "Tales",
    };
    const { outcomes: [{ id }] } = await onix.report(message(record(shared)));
    await org.delete(`/api/products/${id}`);
    const tables = [
      "publishers",
      "imprints",
      "contributors",
      "collections",
      "formats",
    ];
    for (const table of tables) {
      let importing: Promise<Any> | undefined;
      await sql.begin(async (tx) => {
        await tx`delete from ${tx(table)} where organization_id = ${org.id}`;
        importing = onix.report(
          message(record({ ...shared, reference: table })),
        );
        // The import finds the row while its deletion is not committed.
        await tx`select pg_sleep(.3)`;
      });

      const { created, outcomes } = await importing!;
      assertEquals([created, table], [1, table], JSON.stringify(outcomes));
      await org.delete(`/api/products/${outcomes[0].id}`);
    }
  },
);

it3(
  "or is told the very identifier that leads to several",
  async ({ org, onix }) => {
    const identifiers = (type: string, value: string) =>
      [["06", "10.1/1"], [type, value]].map(([type, value]) =>
        `<ProductIdentifier><ProductIDType>${type}</ProductIDType><IDValue>${value}</IDValue></ProductIdentifier>`
      ).join("");
    for (
      const [type, value, isbn13] of [
        ["15", "9780306406157", "9780306406157"],
        ["02", "0306406152", "9780306406157"],
      ] as const
    ) {
      const text = (reference: string) =>
        record({ reference }).replace(
          /<ProductIdentifier>[^]*?<\/ProductIdentifier>/,
          identifiers(type, value),
        );
      const place = {
        path: "/Product/ProductIdentifier[2]/IDValue",
        value,
      };
      const rivals = await onix.report(
        message(text("one"), text("two")),
        "?dry_run=true",
      );
      const ids = [await org.create({ isbn13 }), await org.create({ isbn13 })];
      const several = await onix.report(message(text("one")), "?dry_run=true");
      for (const { id } of ids) await org.delete(`/api/products/${id}`);

      assertEquals(
        [rivals.outcomes[1], several.outcomes[0]].map((
          { messages: [{ code, path, value }] }: Any,
        ) => ({ code, path, value })),
        [{ code: "isbn_in_use", ...place }, { code: "ambiguous", ...place }],
      );
    }
  },
);

it3("and that has the ISBNs of the record alone", async ({ onix, product }) => {
  const isbnsAfter = async (text: string) => {
    const { outcomes: [{ id }] } = await onix.report(message(text));
    const { isbn13, isbn10 } = await product(id);
    return [isbn13, isbn10];
  };
  const both = record().replace(
    "<DescriptiveDetail>",
    "<ProductIdentifier><ProductIDType>02</ProductIDType><IDValue>0141439580</IDValue></ProductIdentifier>$&",
  );
  const short = record({ title: "Emma II" })
    .replace(">15<", ">02<").replace(">9780141439587<", ">0141439580<");

  assertEquals(await isbnsAfter(both), ["9780141439587", "0141439580"]);
  assertEquals(await isbnsAfter(record({ isbn: null })), [null, null]);
  assertEquals(await isbnsAfter(both), ["9780141439587", "0141439580"]);
  for (const title of ["Emma II", "Emma III"]) {
    assertEquals(
      await isbnsAfter(short.replace("Emma II", title)),
      ["9780141439587", "0141439580"],
    );
  }
  // The ISBN-10 was the number that the sender has taken back.
  assertEquals(await isbnsAfter(record({ isbn: null })), [null, null]);
});

it3(
  "and the reference that goes is deleted once",
  async ({ org, onix, another }) => {
    const other = await another();
    const { id } = await org.create({ title: "Emma", isbn13: "9780141439587" });
    const [before] = await onix.feed(1);
    assert(before!.includes(`urn:uuid:${id}`));

    await onix.report(message(record({ reference: "house" })));
    await onix.report(
      message(record({ reference: "house", title: "Emma II" })),
    );

    const feed = await onix.feed(2, "?limit=1");
    const references = feed.map((xml) =>
      /<RecordReference>([^<]*)[\s\S]*?<NotificationType>(\d\d)/.exec(xml)!
        .slice(1)
    );
    assertEquals(references, [[`urn:uuid:${id}`, "05"], ["house", "03"]]);
    await other.onix.report(message(record({ reference: "other" })));
    const [first] = await other.onix.feed(1, "?limit=1");
    assert(first!.includes("<RecordReference>other<"), first);
  },
);

const it4 = onixTestsOf("People of a record");
const person = (name: string, orcid?: string, more = "") =>
  `<Contributor><ContributorRole>A01</ContributorRole>${
    orcid
      ? `<NameIdentifier><NameIDType>21</NameIDType><IDValue>${orcid}</IDValue></NameIdentifier>`
      : ""
  }<PersonName>${name}</PersonName>${more}</Contributor>`;
const book = (reference: string, isbn: number, ...people: string[]) =>
  record({ reference, isbn: isbnOf(isbn), contributors: ["@"] }).replace(
    /<Contributor>[\s\S]*<\/Contributor>/,
    people.join(""),
  );
const ONE = "0000-0002-1825-0097";
const TWO = "0000-0001-5109-3700";

it4(
  "of one name with different identifiers are different",
  async ({ onix, product }) => {
    const report = await onix.report(
      message(
        book("a", 1, person("John Smith", ONE), person("John Smith", TWO)),
      ),
    );
    const { contributors } = await product(report.outcomes[0].id);
    assertEquals(
      new Set(
        contributors.map((one: { contributor_id: string }) => one.contributor_id),
      ).size,
      2,
    );
  },
);

it4("of one name and no identifiers are as many as their record has", async ({ onix, product }) => {
  const note = (text: string) => `<BiographicalNote>${text}</BiographicalNote>`;
  const two = person("John Smith", undefined, note("Sails.")) +
    person("John Smith", undefined, note("Bakes."));
  const { outcomes: [{ id, messages }] } = await onix.report(message(book("a", 1, two)));

  assertEquals(messages, []);
  assertEquals((await product(id)).contributors.length, 2);
});

it4(
  "found under another name are no edit, also after one that was taken back",
  async ({ org, onix, product }) => {
    await org.post("/api/contributors", { name: "Ann Lee", orcid: ONE });
    const text = (title: string, ...others: string[]) =>
      message(book("a", 1, person("A. Lee", ONE), ...others).replace("Emma", title));
    const { outcomes: [{ id }] } = await onix.report(text("One"));
    const put = (...roles: string[]) =>
      org.put(`/api/products/${id}`, {
        contributors: roles.map((role) => ({
          contributor_name: "Ann Lee",
          contributor_role_code: role,
        })),
      });
    await put("A01", "B01");
    await onix.report(text("Two"));
    await put("A01");

    const report = await onix.report(text("Two", person("Bo Ray")));

    assertEquals(codes(report.outcomes[0]), ["name_differs"]);
    assertEquals((await product(id)).contributors.length, 2);
  },
);

it4("with one identifier and two names are two", async ({ onix, product }) => {
  const report = await onix.report(
    message(book("a", 1, person("Ann Lee", ONE), person("Bob Ray", ONE))),
  );
  const [outcome] = report.outcomes;
  assertEquals(
    outcome.messages.map(({ code, path, value }: Record<string, string>) => [
      code,
      path,
      value,
    ]),
    [1, 2].map((position) => [
      "identifier_of_another",
      `/Product/DescriptiveDetail/Contributor[${position}]/NameIdentifier/IDValue`,
      ONE,
    ]),
  );
  assertEquals((await product(outcome.id)).contributors.length, 2);
  const next = await onix.report(
    message(book("b", 2, person("A. Lee", ONE), person("Cy Fox", TWO))),
  );
  assertEquals((await product(next.outcomes[0].id)).contributors.length, 2);
});

it4(
  "said twice, in two ways, are one, which is told",
  async ({ onix, product }) => {
    const both = person("Ann Lee", ONE) + person("Ann Lee", ONE).replace(
      "</Contributor>",
      "<BiographicalNote>She writes.</BiographicalNote></Contributor>",
    );
    const report = await onix.report(message(book("a", 1, both)));
    const [{ id, messages }] = report.outcomes;
    assertEquals(
      messages.map(({ code, path }: Record<string, string>) => [code, path]),
      [[
        "duplicate",
        "/Product/DescriptiveDetail/Contributor[2]/PersonName",
      ]],
    );
    assertEquals((await product(id)).contributors.length, 1);
  },
);

it4(
  "with the identifier of one of another name are that one",
  async ({ onix, product }) => {
    const first = await onix.report(
      message(book("a", 1, person("Ann Lee", ONE))),
    );
    // Both roles are told once, at the name.
    const twice = person("A. M. Lee", ONE).replace(
      "</ContributorRole>",
      "</ContributorRole><ContributorRole>A12</ContributorRole>",
    );
    const report = await onix.report(message(book("b", 2, twice)));
    const [{ id, messages }] = report.outcomes;
    assertEquals(
      messages.map(({ code, path, value }: Record<string, string>) => [
        code,
        path,
        value,
      ]),
      [[
        "name_differs",
        "/Product/DescriptiveDetail/Contributor/PersonName",
        "A. M. Lee",
      ]],
    );
    const [one] = (await product(first.outcomes[0].id)).contributors;
    const { contributors } = await product(id);
    assertEquals(contributors.length, 2);
    for (const { contributor_id, contributor_name } of contributors) {
      assertEquals(
        [contributor_id, contributor_name],
        [one.contributor_id, "Ann Lee"],
      );
    }
    // The record keeps its own wording.
    assert((await onix.xml(`/${id}`)).includes("A. M. Lee"));
  },
);

it4(
  "of two imports at once are never overwritten",
  async ({ org, onix, product }) => {
    for (let round = 0; round < 15; round++) {
      const name = `John Round${String.fromCharCode(97 + round)}`;
      await org.post("/api/contributors", { name });
      const [one, two] = await Promise.all([
        onix.report(message(book(`x${round}`, 100 + round, person(name, ONE)))),
        onix.report(message(book(`y${round}`, 200 + round, person(name, TWO)))),
      ]);
      const orcidOf = async (report: { outcomes: { id: string }[] }) => {
        const { contributors: [{ contributor_id }] } = await product(
          report.outcomes[0]!.id,
        );
        const { body } = await org.get(`/api/contributors/${contributor_id}`);
        return body.data.orcid;
      };
      assertEquals(
        [await orcidOf(one), await orcidOf(two)],
        [ONE, TWO].map((orcid) => orcid.replaceAll("-", "")),
      );
      const { body: { data } } = await org.get(
        `/api/contributors?search=${name}`,
      );
      assertEquals(data.length, 2);
      // The next round has the identifiers for itself.
      for (const { id } of data) {
        await org.put(`/api/contributors/${id}`, { orcid: null });
      }
    }
  },
);

/** Dates of publication: base, local and incoming. */
// deno-fmt-ignore
const DATES: [base: string, local: object, incoming: string][] = [
  ['<Date dateformat="01">202703</Date>', { publication_date: "2027-03-05" }, '<Date dateformat="01">202704</Date>'],
  ['<Date dateformat="01">202703</Date>', { publication_date: "2027-03-05" }, '<Date dateformat="05">2028</Date>'],
  ['<Date dateformat="05">2027</Date>', { publication_date: "2027-03-05" }, "<Date>20270406</Date>"],
  ["<Date>20270304</Date>", { publication_date: "2027-03-05" }, '<Date dateformat="01">202704</Date>'],
  ["<Date>20270304</Date>", { publication_date: null, publishing_dates: [{ publishing_date_role: "01", date: "2027-03" }] }, "<Date>20270406</Date>"],
  ["<Date>20270304</Date>", { publication_date: null, publishing_dates: [{ publishing_date_role: "01", date: "2027" }] }, '<Date dateformat="01">202704</Date>'],
];

it("a date of publication is one value, however much of it is known", async ({ org, onix, product }) => {
  const said = async (id: string) => {
    const { publication_date, publishing_dates } = await product(id);
    return [publication_date, publishing_dates.map(({ date }: Any) => date)];
  };
  for (const [base, local, incoming] of DATES) {
    for (const [edits, told] of Object.entries(CONFLICT)) {
      const reference = `date ${crypto.randomUUID()}`;
      const dated = (date: string, title = "One") =>
        message(
          record({ reference, title, isbn: null })
            .replace("<Date>20270131</Date>", date),
        );
      const { outcomes: [{ id }] } = await onix.report(dated(base));
      const put = await org.put(`/api/products/${id}`, local);
      assertEquals(put.status, 200, put.text);
      const ours = await said(id);
      await onix.report(dated(base, "Two"));
      assertEquals(await said(id), ours);

      const report = await onix.report(dated(incoming, "Three"), `?edits=${edits}`);

      assertEquals(report.updated, 1, JSON.stringify(report));
      assertEquals(
        codes(report.outcomes[0]).filter((code) => code !== "imprecise_date"),
        told,
      );
      const { outcomes: [{ id: other }] } = await onix.report(
        dated(incoming).replace(reference, `${reference} alone`),
      );
      assertEquals(
        await said(id),
        edits === "protect" ? ours : await said(other),
        `${base} ${incoming} ${edits}`,
      );
      const again = await onix.report(dated(incoming, "Three"));
      assertEquals(again.unchanged, 1);
    }
  }
});

it("a period that would end before it begins is that of one side", async ({ org, onix, product }) => {
  for (const [edits, told] of Object.entries(CONFLICT)) {
    const reference = `period ${edits}`;
    const dated = (from: string, to: string) =>
      message(
        record({ reference, isbn: null }).replace(
          "</Price>",
          `<PriceDate><PriceDateRole>14</PriceDateRole><Date>${from}</Date></PriceDate><PriceDate><PriceDateRole>15</PriceDateRole><Date>${to}</Date></PriceDate>$&`,
        ),
      );
    const { outcomes: [{ id }] } = await onix.report(
      dated("20270101", "20270630"),
    );
    const { product_territories } = await product(id);
    product_territories[0].supply_details[0].prices[0].valid_to = "2027-03-31";
    await org.put(`/api/products/${id}/territories`, product_territories);

    const report = await onix.report(
      dated("20270501", "20270630"),
      `?edits=${edits}`,
    );

    assertEquals(codes(report.outcomes[0]), told, JSON.stringify(report));
    const [{ supply_details: [{ prices: [price] }] }] = (await product(id)).product_territories;
    assertEquals(
      [price.valid_from, price.valid_to],
      edits === "protect" ? ["2027-01-01", "2027-03-31"] : ["2027-05-01", "2027-06-30"],
    );
  }
});
