import { catchDefectInTurns, DEFECT } from "../../schema/defects.ts";
import { writeRecord } from "../onix/schema/doors/outgoing.ts";
import type { ReadinessQuery } from "./schema/query.ts";
import type { Profile } from "./schema/profiles.ts";
import { checkMessage, type Readiness } from "./schema/readiness.ts";
import { withoutPlaceholders } from "../onix/schema/valid/placeholders.ts";
import { headerOf } from "../onix/schema/xml/write.ts";
import type { Book } from "../onix/schema/mapping/mapped.ts";
import { type InTurns, inTurns } from "../../schema/turns.ts";
import type { Queries } from "../../db/database.ts";
import { selectIds } from "../../db/products/lists/selected.ts";
import { NIL_UUID } from "../../db/uuid.ts";
import { bookOf, receivedIn } from "../onix/db/out/books.ts";
import { readSources } from "../onix/db/out/changes.ts";
import type { RecordSource } from "../onix/db/out/record_source.ts";
import type { Pace } from "../../schema/turns.ts";

/* Checks the readiness of stored products, one or a page at a time. */

/** A product with its readiness, and the numbers that identify it. */
export interface CheckedProduct extends Readiness {
  id: unknown;
  title: unknown;
  isbn13: unknown;
  product_code: unknown;
}

/** The maximum number of products that a page checks, and that are read at once. */
const MAX_CHECKED = 500;
const MAX_READ = 100;

/** Returns whether a product is ready for a recipient, and what it lacks. */
export function* readinessOf(source: RecordSource, profile: Profile): InTurns<Readiness> {
  const { ready, score, missing } = yield* checkSource(source, profile);
  return { ready, score, missing };
}

/** A page of products in the order of their ids. Awaits `pace` before each of them. */
export async function listReadiness(
  database: Queries,
  { profile, ready, after, limit, ...filters }: ReadinessQuery,
  pace: Pace,
) {
  const products: CheckedProduct[] = [];
  const meta = { cursor: after ?? null, more: true, checked: 0, ready: 0 };
  const isFull = () => products.length === limit || meta.checked === MAX_CHECKED;
  while (meta.more && !isFull()) {
    // Without the filter `ready`, every checked product is on the page.
    const wanted = ready === undefined ? limit - products.length : MAX_READ;
    const count = Math.min(wanted, MAX_CHECKED - meta.checked);
    const ids = selectIds(filters, meta.cursor ?? NIL_UUID);
    const { sources, more } = await readSources(database, ids, count);
    meta.more = more;
    for (const source of sources) {
      if (isFull()) {
        meta.more = true;
        break;
      }
      await pace();
      const checked = await inTurns(checkSource(source, profile), pace);
      meta.cursor = source.id;
      meta.checked++;
      if (checked.ready) meta.ready++;
      if (ready === undefined || checked.ready === ready) products.push(checked);
    }
  }
  return { products, meta };
}

function* checkSource(source: RecordSource, profile: Profile): InTurns<CheckedProduct> {
  const book = bookOf(source);
  yield;
  const { id, title, isbn13, product_code } = book.product;
  const check = checkBook(book, source, profile);
  const readiness = yield* catchDefectInTurns(check, () => NOT_SENT, id as string);
  return { id, title, isbn13, product_code, ...readiness };
}

function* checkBook(book: Book, source: RecordSource, profile: Profile): InTurns<Readiness> {
  const received = receivedIn(source);
  yield;
  const repaired = yield* writeRecord(book, received, profile.release);
  yield;
  return checkMessage(profile, {
    header: headerOf(source, new Date()),
    record: withoutPlaceholders(repaired),
    product: book.product,
  });
}

/** The readiness of a product whose record the service fails to write. The feed omits it. */
const NOT_SENT: Readiness = {
  ready: false,
  score: 0,
  missing: [{
    rule: DEFECT.code,
    severity: "required",
    path: "/Product",
    pointer: null,
    value: null,
    message: DEFECT.message,
  }],
};
