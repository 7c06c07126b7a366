/*
 * Suggests the known name that an unknown one probably stands for, so that a message can name it:
 * `titel` is probably `title`, and `pageCount` is `page_count`.
 */

/** Longer names are not compared: the cost of an error has a bound. */
const MAX_WORD_LENGTH = 40;

/** Synonyms of fields, from other catalogues and from people. If fields share a word, the first known one is suggested. */
// deno-fmt-ignore
const SYNONYMS = {
  audience_ranges: "age agerange readingage",
  biographical_note: "bio biography",
  contributors: "author authorname authors creator editor illustrator narrator translator writer",
  product_availability_id: "availability instock stock",
  product_availability: "availability stock",
  city_of_publication: "city placeofpublication",
  collateral: "annotation awards blurb description excerpt longdescription prizes review reviews shortdescription summary synopsis tableofcontents toc",
  isbn13: "barcode ean gtin gtin13 isbn",
  gtin: "barcode ean gtin13",
  subjects: "bic bisac categories category genre keywords tags thema",
  format_id: "binding",
  product_collections: "collection seriesnumber volume",
  custom_fields: "copyright custom",
  country_of_publication: "country",
  cover_image_url: "cover coverimage coverurl image thumbnail",
  product_identifiers: "asin doi identifier identifiers lccn oclc sku",
  edition_number: "edition",
  epub_technical_protections: "drm",
  extents: "duration length runningtime wordcount",
  product_form_id: "form",
  product_form_details: "fileformat",
  product_form_features: "a11y accessibility features",
  include: "embed expand fields",
  languages: "lang",
  language_code: "lang",
  updated_since: "modifiedsince since updatedafter",
  title: "name titletext",
  name: "label title",
  names_before_key: "name",
  contributor_id: "author name translator writer",
  collection_id: "name",
  page_count: "numberofpages pagenumber pages",
  page: "offset",
  sort: "order orderby sortby",
  limit: "pagesize perpage size",
  measures: "dimensions height size weight width",
  part_number: "part volume",
  publication_date: "pubdate publicationyear publishdate published publisheddate released releasedate year",
  publishing_dates: "embargo embargodate launchdate onsaledate",
  q: "query",
  contributor_role_id: "role",
  publishing_status_id: "status",
  tax_rate: "tax vat",
  product_prices: "cost currency listprice price prices retailprice rrp tax vat",
  prices: "price",
  retail_price: "amount price rrp",
  price_amount: "amount price",
  product_type: "type",
  collateral_type: "type",
  "PUT /products/{id}/sales-rights": "rights",
  "PUT /products/{id}/territories": "distributor market supplier suppliers territories territory warehouse",
};

/** The fields that a word may mean, the likeliest first. */
export const OTHER_WORDS = new Map<string, string[]>();

for (const [field, words] of Object.entries(SYNONYMS)) {
  for (const word of words.split(" ")) {
    OTHER_WORDS.set(word, [...OTHER_WORDS.get(word) ?? [], field]);
  }
}

/**
 * Returns a function that finds the known name which an unknown one probably means: another
 * word for it, the same name in another style (`pageCount`), without its ending
 * (`publisher`), or with a slip of the keyboard. It returns undefined if none is near.
 */
export function speller(known: readonly string[]) {
  let words: (readonly [word: string, name: string])[] | undefined;
  // Only the body of a product has a subtitle, and refers to arrays with a path of their own.
  const suggestsPaths = known.includes("subtitle");
  return (name: string): string | undefined => {
    if (name.length > MAX_WORD_LENGTH) return;
    const word = wordOf(name);
    words ??= known.map((name) => [wordOf(name), name]);
    const find = (fits: (known: string) => boolean) => words!.find(([known]) => fits(known))?.[1];
    const others = OTHER_WORDS.get(word) ?? [];
    return others.find((other) => known.includes(other)) ??
      (suggestsPaths ? others.find(isOperation) : undefined) ??
      find((known) => known === word) ??
      find((known) => ENDINGS.some((ending) => known === word + ending)) ??
      // Where the name is that of the record itself: `publisher_name` of a publisher.
      (word.endsWith("name") ? find((known) => known === "name") : undefined) ??
      find((known) => isNear(word, known));
  };
}

/** Whether a suggestion is the operation that writes an array with a path of its own. */
function isOperation(other: string): boolean {
  return other.startsWith("PUT ");
}

/** The endings that people leave out: of `publisher_id`, `subjects`, `currency_code`. */
const ENDINGS = ["id", "s", "code", "number", "value"];

function wordOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** At most two slips in words from eight letters, one from four. The first letter is right, which spares most comparisons. */
function isNear(word: string, known: string): boolean {
  const max = known.length < 4 ? 0 : known.length < 8 ? 1 : 2;
  return word[0] === known[0] && slipsBetween(word, known, max) <= max;
}

/**
 * The number of inserted, lost, replaced or swapped characters (optimal string alignment), or more
 * than `max` if it exceeds that: characters whose places differ by more than `max` are not compared.
 */
export function slipsBetween(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  const rowOf = () => new Array<number>(b.length + 1).fill(max + 1);
  let [before, row, next] = [rowOf(), rowOf(), rowOf()];
  for (let j = 0; j <= Math.min(max, b.length); j++) row[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const [first, last] = [Math.max(1, i - max), Math.min(b.length, i + max)];
    // Beside the band, the row still has the values of an earlier one.
    next[first - 1] = i <= max ? i : max + 1;
    if (last < b.length) next[last + 1] = max + 1;
    for (let j = first; j <= last; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let slips = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
      if (j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, before[j - 2]! + 1);
      }
      next[j] = slips;
    }
    [before, row, next] = [row, next, before];
  }
  return row[b.length]!;
}

/** The end of a message that suggests a name, if there is one. */
export function didYouMean(meant: string | undefined): string {
  return meant === undefined ? "" : `: did you mean ${meant}?`;
}
