import { assertEquals, assertMatch } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import { onixClient } from "../support/client/onix.ts";
import { message, record } from "../support/data/onix.ts";

/** A record whose date of publication is this element. */
function dated(date: string): string {
  return record().replace("<Date>20270131</Date>", date);
}

/** The dates of publication in a message, with their format. */
function datesIn(xml: string): string[] {
  return Array.from(
    xml.matchAll(
      /<PublishingDateRole>01<\/PublishingDateRole>\s*<Date(?: dateformat="(\d\d)")?>(\d+)</g,
    ),
    ([, format = "00", date]) => `${format} ${date}`,
  );
}

Deno.test("A year or month announces a publication", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const onix = onixClient(app, org);
  let id = "";

  /** What JSON and ONIX say of the date. */
  async function said() {
    const { body: { data } } = await org.get(`/api/products/${id}`);
    return {
      day: data.publication_date,
      announced: data.publishing_dates,
      sent: datesIn(await onix.xml(`/${id}`)),
    };
  }

  const announced = (date: string) => [{ publishing_date_role: "01", date }];

  await t.step("in a record", async () => {
    const text = message(dated('<Date dateformat="01">202703</Date>'));
    const report = await onix.report(text);
    const [{ messages, ...outcome }] = report.outcomes;
    id = outcome.id;

    assertEquals(messages.map(({ code }: { code: string }) => code), [
      "imprecise_date",
    ]);
    assertEquals(await said(), {
      day: null,
      announced: announced("2027-03"),
      sent: ["01 202703"],
    });
    assertEquals(report.unmapped, []);
    assertEquals((await onix.report(text)).unchanged, 1);
  });

  await t.step("in JSON", async () => {
    const { status } = await org.put(`/api/products/${id}`, {
      publishing_dates: announced("2027"),
    });

    assertEquals(status, 200);
    assertEquals(await said(), {
      day: null,
      announced: announced("2027"),
      sent: ["05 2027"],
    });
    const created = await org.post("/api/products", {
      title: "Announced",
      publishing_dates: announced("2028-01"),
    });
    assertEquals(created.status, 201);
    const xml = await onix.xml(`/${created.body.data.id}`);
    assertEquals(datesIn(xml), ["01 202801"]);
  });

  await t.step("until a day is set, in JSON", async () => {
    const { status } = await org.put(`/api/products/${id}`, {
      publication_date: "2027-03-15",
    });

    assertEquals(status, 200);
    assertEquals(await said(), {
      day: "2027-03-15",
      announced: [],
      sent: ["00 20270315"],
    });
  });

  await t.step("or by a record, and the other way round", async () => {
    await onix.report(message(dated("<Date>20270401</Date>")));
    assertEquals(await said(), {
      day: "2027-04-01",
      announced: [],
      sent: ["00 20270401"],
    });

    await onix.report(message(dated('<Date dateformat="05">2028</Date>')));
    assertEquals(await said(), {
      day: null,
      announced: announced("2028"),
      sent: ["05 2028"],
    });
  });

  await t.step("and other spans stay in the record", async () => {
    const report = await onix.report(
      message(dated('<Date dateformat="03">20271</Date>')),
    );

    assertMatch(JSON.stringify(report.outcomes), /"PublishingDate\/Date"|Date/);
    const { day, announced, sent } = await said();
    assertEquals([day, announced, sent], [null, [], ["03 20271"]]);
  });
});
