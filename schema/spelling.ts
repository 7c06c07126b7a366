/*
 * Which known name an unknown one was meant to be. A message names it, so that the
 * next request is right.
 */

/** Longer names are not compared: the cost of an error has a bound. */
const MAX_WORD_LENGTH = 40;

/** Words for a field that other catalogues, and people, use. The first known name counts. */
export const OTHER_WORDS: Record<string, readonly string[]> = {
  age: ["audience_ranges"],
  agerange: ["audience_ranges"],
  amount: ["retail_price", "price_amount"],
  author: ["contributors", "contributor_id"],
  authors: ["contributors"],
  availability: ["product_availability_id", "product_availability"],
  awards: ["collateral"],
  barcode: ["isbn13", "gtin"],
  bic: ["subjects"],
  binding: ["format_id"],
  bisac: ["subjects"],
  blurb: ["collateral"],
  categories: ["subjects"],
  category: ["subjects"],
  collection: ["product_collections"],
  copyright: ["custom_fields"],
  country: ["country_of_publication"],
  cover: ["cover_image_url"],
  coverimage: ["cover_image_url"],
  coverurl: ["cover_image_url"],
  creator: ["contributors"],
  currency: ["product_prices"],
  description: ["collateral"],
  dimensions: ["measures"],
  doi: ["product_identifiers"],
  ean: ["isbn13", "gtin"],
  edition: ["edition_number"],
  expand: ["include"],
  genre: ["subjects"],
  gtin: ["isbn13"],
  gtin13: ["isbn13", "gtin"],
  height: ["measures"],
  illustrator: ["contributors"],
  image: ["cover_image_url"],
  isbn: ["isbn13"],
  keywords: ["subjects"],
  lang: ["languages", "language_code"],
  listprice: ["product_prices"],
  longdescription: ["collateral"],
  modifiedsince: ["updated_since"],
  name: ["title", "names_before_key", "contributor_id", "collection_id"],
  numberofpages: ["page_count"],
  offset: ["page"],
  order: ["sort"],
  orderby: ["sort"],
  pagenumber: ["page_count"],
  pages: ["page_count"],
  pagesize: ["limit"],
  part: ["part_number"],
  perpage: ["limit"],
  price: ["product_prices", "prices", "retail_price", "price_amount"],
  prices: ["product_prices"],
  prizes: ["collateral"],
  pubdate: ["publication_date"],
  publicationyear: ["publication_date"],
  publishdate: ["publication_date"],
  published: ["publication_date"],
  publisheddate: ["publication_date"],
  query: ["q"],
  releasedate: ["publication_date"],
  retailprice: ["product_prices"],
  reviews: ["collateral"],
  rights: ["PUT /products/{id}/sales-rights"],
  role: ["contributor_role_id"],
  rrp: ["product_prices", "retail_price"],
  shortdescription: ["collateral"],
  since: ["updated_since"],
  size: ["limit", "measures"],
  sku: ["product_identifiers"],
  sortby: ["sort"],
  status: ["publishing_status_id"],
  supplier: ["PUT /products/{id}/territories"],
  suppliers: ["PUT /products/{id}/territories"],
  stock: ["product_availability_id", "product_availability"],
  summary: ["collateral"],
  synopsis: ["collateral"],
  tags: ["subjects"],
  tax: ["tax_rate", "product_prices"],
  thema: ["subjects"],
  titletext: ["title"],
  territories: ["PUT /products/{id}/territories"],
  translator: ["contributors", "contributor_id"],
  type: ["product_type", "collateral_type"],
  updatedafter: ["updated_since"],
  vat: ["tax_rate", "product_prices"],
  volume: ["product_collections", "part_number"],
  weight: ["measures"],
  width: ["measures"],
  writer: ["contributors", "contributor_id"],
};

/**
 * Returns a function that finds the known name which an unknown one probably means: another
 * word for it, the same name in another style (`pageCount`), without its ending
 * (`publisher`), or with a slip of the keyboard. It returns undefined if none is near.
 */
export function speller(known: readonly string[]) {
  let words: (readonly [word: string, name: string])[] | undefined;
  return (name: string): string | undefined => {
    if (name.length > MAX_WORD_LENGTH) return;
    const word = wordOf(name);
    words ??= known.map((name) => [wordOf(name), name]);
    const find = (isMeant: (known: string) => boolean) =>
      words!.find(([known]) => isMeant(known))?.[1];
    const others = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word]! : [];
    return others.find((other) => known.includes(other)) ??
      (known.includes("subtitle") ? others.find(isOperation) : undefined) ??
      find((known) => known === word) ??
      find((known) => ENDINGS.some((ending) => known === word + ending)) ??
      find((known) => isNear(word, known));
  };
}

/** Whether the arrays of a product with a path of their own are meant. Only its body leads there. */
function isOperation(other: string): boolean {
  return other.startsWith("PUT ");
}

/** What a name is given without: `publisher_id`, `subjects`, `currency_code`. */
const ENDINGS = ["id", "s", "code", "number", "value"];

/** The letters and digits of a name. */
function wordOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** At most two slips in words from eight letters, one from four. The first letter is right, which spares most comparisons. */
function isNear(word: string, known: string): boolean {
  const max = known.length < 4 ? 0 : known.length < 8 ? 1 : 2;
  return word[0] === known[0] && Math.abs(word.length - known.length) <= max &&
    slipsBetween(word, known) <= max;
}

/** The number of inserted, lost, replaced or swapped characters (optimal string alignment). */
export function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let slips = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, before[j - 2]! + 1);
      }
      next.push(slips);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** The end of a message that names what was meant, if that is known. */
export function didYouMean(meant: string | undefined): string {
  return meant === undefined ? "" : `: did you mean ${meant}?`;
}
