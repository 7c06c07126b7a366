import { isbnOf, message, record } from "../support/data/onix.ts";
import {
  childValue,
  type Element,
  element,
} from "../../schema/onix/xml/element.ts";
import { readMessage } from "../../schema/onix/xml/read.ts";
import { toStored } from "../../schema/onix/xml/write.ts";
import { XmlError } from "../../schema/onix/xml/xml_error.ts";
import { SAMPLES } from "../onix/support.ts";

/** Records that differ from edition to edition. */
export interface Records {
  name: string;
  count: number;
  /** The message of an edition, which has all of them. */
  messageOf(edition: number): string;
}

/** The text of each short record. */
const TEXT = "A description of the book, which goes on for a while. ".repeat(
  60,
);

/** Records with few elements and one text. */
export const SHORT: Records = {
  name: "short records",
  count: 2_000,
  messageOf: (edition) =>
    message(...Array.from({ length: SHORT.count }, (_, i) =>
      record({
        reference: `bench.example.${i}`,
        isbn: isbnOf(700_000_000 + i),
        title: `Book ${i}`,
        pages: 100 + edition,
        price: `${5 + edition}.99`,
        contributors: [`Author ${i % 500}`, `Editor ${i % 50}`],
        publisher: `Publisher ${i % 5}`,
        imprint: `Imprint ${i % 20}`,
      }).replace(
        "<PublishingDetail>",
        `<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text>${TEXT}</Text></TextContent></CollateralDetail><PublishingDetail>`,
      ))),
};

/** Records made from those of whole messages: our own ones, and those in the folder `ONIX_SAMPLES`. */
export async function fullRecords(): Promise<Records> {
  const samples: Element[] = [];
  for (const { url } of SAMPLES) samples.push(...await productsOf(url));
  const count = 2_000;
  return {
    name: "records of messages",
    count,
    messageOf: (edition) =>
      message(
        ...Array.from({ length: count }, (_, i) =>
          toStored(renewed(samples[i % samples.length]!, i, edition))),
      ),
  };
}

/** The records of a message that can be read, but deletions and those without a title. */
async function productsOf(url: URL): Promise<Element[]> {
  const products: Element[] = [];
  const { readable } = await Deno.open(url);
  try {
    for await (const part of readMessage(readable)) {
      if (part.kind === "product" && isWhole(part.product)) {
        products.push(part.product);
      }
    }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
  }
  return products;
}

function isWhole(product: Element): boolean {
  return childValue(product, "NotificationType") !== "05" &&
    titleIn(product) !== undefined;
}

/** The elements of titles that a record is known by. */
const TITLES = ["TitleText", "TitleWithoutPrefix"];

/** The title of the product itself. */
function titleIn({ children }: Element): Element | undefined {
  const within = (each: Element, name: string) =>
    each.children.filter((child) => child.name === name);
  return children.filter(({ name }) => name === "DescriptiveDetail")
    .flatMap((each) => within(each, "TitleDetail"))
    .flatMap((each) => within(each, "TitleElement"))
    .flatMap((each) => each.children)
    .find(({ name, text }) => TITLES.includes(name) && text.trim() !== "");
}

/** The record as one of another product, in an edition that its title names. */
function renewed(sample: Element, i: number, edition: number): Element {
  const title = titleIn(sample)!;
  const renamed = (each: Element): Element => ({
    ...each,
    children: each.children.map(renamed),
    text: each === title ? `${each.text.trim()} ${edition}` : each.text,
  });
  const own = ["RecordReference", "NotificationType", "ProductIdentifier"];
  return {
    ...sample,
    children: [
      element("RecordReference", `full.example.${i}`),
      element("NotificationType", "03"),
      element("ProductIdentifier", [
        element("ProductIDType", "15"),
        element("IDValue", isbnOf(710_000_000 + i)),
      ]),
      ...sample.children.filter(({ name }) => !own.includes(name)).map(renamed),
    ],
  };
}
