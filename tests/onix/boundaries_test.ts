import { assertEquals } from "@std/assert";
import { least } from "./records.ts";
import { type Incoming, message, readRecord, recordsOf } from "./support.ts";

async function incoming(record: string): Promise<Incoming> {
  const { header, records: [product] } = await recordsOf(message(record));
  const read = readRecord(product!, header);
  if (read.kind === "rejected") throw new Error(JSON.stringify(read.messages));
  return read;
}

Deno.test("The boundaries of a record", async (t) => {
  const contributor = (name: string) =>
    `<Contributor><ContributorRole>A01</ContributorRole><PersonName>${name}</PersonName></Contributor>`;
  const contributors = (count: number) =>
    Array.from({ length: count }, (_, i) => contributor(`Name ${i}`)).join("");

  await t.step("are 500 contributors, and one more is said", async () => {
    const most = await incoming(least("1", { detail: contributors(500) }));
    const more = await incoming(least("1", { detail: contributors(501) }));

    assertEquals(most.values.contributors.length, 500);
    assertEquals(most.messages, []);
    assertEquals(more.messages.map(({ code }) => code), ["too_many"]);
  });

  await t.step("are GTINs of books among those of all goods", async () => {
    const withGtin = (value: string) =>
      incoming(
        least("1").replace(
          "<DescriptiveDetail>",
          `<ProductIdentifier><ProductIDType>03</ProductIDType><IDValue>${value}</IDValue></ProductIdentifier><DescriptiveDetail>`,
        ),
      );

    const book = await withGtin("9780306406157");
    const other = await withGtin("5012345678900");

    assertEquals(book.values.isbn13, "9780306406157");
    assertEquals(other.values.isbn13, undefined);
    assertEquals(other.values.product_identifiers, [
      { product_id_type: "03", id_value: "5012345678900" },
    ]);
  });
});
