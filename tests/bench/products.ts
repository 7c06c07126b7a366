import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";
import { createTitles, type Random } from "./titles.ts";

/** The first product of each organization; the number ends its id, in seven digits. */
export const FIRST_NUMBER = 1_000_001;

/** The columns of a row of `products`, in the order of `productRows`. */
export const PRODUCT_COLUMNS =
  `organization_id, id, product_code, title, subtitle, isbn13, isbn10, page_count, publication_date,
  format_id, title_id, publishing_status_id, product_availability_id, lifecycle_status_id, license_id, season_id,
  publisher_id, division_id, imprint_id, series_id, product_type, cover_image_url, created_at, updated_at, counted`;

/** The ids of the codes that products have, by list: a code as often as its weight says. */
export type Codes = Record<
  "publishing_status" | "availability" | "lifecycle_status",
  { id: string; weight: number }[]
>;

const DAY_MS = 86_400_000;

/**
 * An id of kind `kind` as `benchmark.id` makes it in the database: a number
 * that is not of the service's own ids, and after which these come in order.
 */
export function idOf(kind: string, number: number | string): string {
  return `019a0000-00${kind}-7000-8000-b00c0${number}`;
}

/** The products of an organization, the oldest first, as lines of `copy`. */
export function* productRows(
  organization: { id: string; products: number; references: number },
  codes: Codes,
  random: Random,
): Generator<string> {
  const title = createTitles(random);
  const below = (end: number) => Math.floor(random() * end);
  const one = (kind: string, of: number) =>
    idOf(kind, FIRST_NUMBER + below(of));
  const pick = (list: Codes[keyof Codes]) => {
    let left = random() * list.reduce((sum, { weight }) => sum + weight, 0);
    return list.find(({ weight }) => (left -= weight) < 0)!.id;
  };
  const { products, references } = organization;
  for (let i = 0; i < products; i++) {
    const number = FIRST_NUMBER + i;
    const isbn = isbnOf(i);
    // Five years of books, evenly.
    const day = Date.UTC(2021, 0, 1) + Math.floor(i / products * 1826 * DAY_MS);
    const time = new Date(day).toISOString();
    yield [
      organization.id,
      idOf("00", number),
      codeOf(i),
      title(),
      below(3) ? title() : "\\N",
      isbn.isbn13,
      isbn.isbn10,
      80 + below(800),
      time.slice(0, 10),
      one("16", 6),
      one("1a", references),
      pick(codes.publishing_status),
      pick(codes.availability),
      pick(codes.lifecycle_status),
      one("11", 3),
      one("12", 8),
      one("13", 4),
      one("14", 3),
      one("15", 10),
      // The first of the collections that `dataset/nested.sql` gives it. The oldest tenth has none, so that
      // their collections can be replaced.
      i < references || below(3)
        ? "\\N"
        : idOf("18", FIRST_NUMBER + number * 17 % references),
      "normal",
      `https://covers.example/${isbn.isbn13}.jpg`,
      time,
      time,
      "t",
    ].join("\t") + "\n";
  }
}

/** Every ninth-digit combination once, far apart, so that a search for one finds one. */
function isbnOf(i: number): { isbn13: string; isbn10: string } {
  const nine = String(scattered(i, 999_999_937)).padStart(9, "0");
  return {
    isbn13: `978${nine}${isbn13CheckDigit(`978${nine}`)}`,
    isbn10: `${nine}${isbn10CheckDigit(nine)}`,
  };
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function codeOf(i: number): string {
  let rest = scattered(i, 1_099_511_627_689);
  let code = "";
  for (let digit = 0; digit < 8; digit++) {
    code += CROCKFORD[rest % 32];
    rest = Math.floor(rest / 32);
  }
  return `P-${code}`;
}

/** A number below the prime `modulus`, another for each `i`. */
function scattered(i: number, modulus: number): number {
  return Number((BigInt(i) + 1n) * 982_451_653n % BigInt(modulus));
}
