import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";
import { createTitles, type Random } from "./titles.ts";

/** The number of each organization's first product. It forms the last seven digits of the id. */
export const FIRST_NUMBER = 1_000_001;

/** The ids of the codes of products, by list. Each code occurs as often as its weight. */
export type Codes = Record<
  "publishing_status" | "availability" | "lifecycle_status",
  { id: string; weight: number }[]
>;

const DAY_MS = 86_400_000;

/**
 * An id of kind `kind`, like `benchmark.id` in the database. The ids sort by number
 * and differ from the service's own ids.
 */
export function idOf(kind: string, number: number | string): string {
  return `019a0000-00${kind}-7000-8000-b00c0${number}`;
}

/** The products of an organization by column, oldest first. */
export function* productRows(
  organization: { id: string; products: number; references: number },
  codes: Codes,
  random: Random,
): Generator<Record<string, string | number | undefined>> {
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
    // Publication dates spread evenly over five years.
    const day = Date.UTC(2021, 0, 1) + Math.floor(i / products * 1826 * DAY_MS);
    const time = new Date(day).toISOString();
    yield {
      organization_id: organization.id,
      id: idOf("00", number),
      product_code: codeOf(i),
      title: title(),
      subtitle: below(3) ? title() : undefined,
      ...isbn,
      page_count: 80 + below(800),
      publication_date: time.slice(0, 10),
      format_id: one("16", 6),
      title_id: one("1a", references),
      publishing_status_id: pick(codes.publishing_status),
      product_availability_id: pick(codes.availability),
      lifecycle_status_id: pick(codes.lifecycle_status),
      license_id: one("11", 3),
      season_id: one("12", 8),
      publisher_id: one("13", 4),
      division_id: one("14", 3),
      imprint_id: one("15", 10),
      // The first of the collections from `dataset/nested.sql`. The oldest tenth has no series, so that
      // their collections can be replaced.
      series_id: i < references || below(3)
        ? undefined
        : idOf("18", FIRST_NUMBER + number * 17 % references),
      product_type: "normal",
      cover_image_url: `https://covers.example/${isbn.isbn13}.jpg`,
      created_at: time,
      updated_at: time,
      // Only older checkouts have this column.
      counted: "t",
    };
  }
}

/** Every combination of nine digits once, far apart, so that a search for one finds one product. */
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

/** A number below the prime `modulus`, different for each `i`. */
function scattered(i: number, modulus: number): number {
  return Number((BigInt(i) + 1n) * 982_451_653n % BigInt(modulus));
}
