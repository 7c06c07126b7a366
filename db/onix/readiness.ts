import { DEFECT, guarded } from "../../schema/defects.ts";
import { writeRecord } from "../../schema/onix/mapping/outgoing.ts";
import type { ReadinessQuery } from "../../schema/onix/query.ts";
import type { Profile } from "../../schema/onix/profiles.ts";
import { judge, type Readiness } from "../../schema/onix/readiness.ts";
import { withoutDemanded } from "../../schema/onix/xml/fillers.ts";
import { headerOf } from "../../schema/onix/xml/write.ts";
import type { Queries } from "../database.ts";
import { selectIds } from "../products/selected.ts";
import { NIL_UUID } from "../uuid.ts";
import { bookOf, receivedIn } from "./books.ts";
import { readSources } from "./changes.ts";
import type { RecordSource } from "./record_source.ts";

/** Whether a product is ready, and what others know it by. */
export interface JudgedProduct extends Readiness {
  id: unknown;
  title: unknown;
  isbn13: unknown;
  product_code: unknown;
}

/** The most products that a page judges, and that are read at once. */
const MAX_JUDGED = 500;
const MAX_READ = 100;

/** Whether a product is ready for a recipient, and what it lacks. */
export function readinessOf(source: RecordSource, profile: Profile): Readiness {
  const { ready, score, missing } = judgeSource(source, profile);
  return { ready, score, missing };
}

/** A page of products in the order of their ids. Awaits `pace` before each of them. */
export async function listReadiness(
  database: Queries,
  { profile, ready, after, limit, ...filters }: ReadinessQuery,
  pace: () => Promise<void>,
) {
  const products: JudgedProduct[] = [];
  const meta = { cursor: after ?? null, more: true, checked: 0, ready: 0 };
  const isFull = () => products.length === limit || meta.checked === MAX_JUDGED;
  while (meta.more && !isFull()) {
    // Without the filter `ready`, every product that is judged is on the page.
    const wanted = ready === undefined ? limit - products.length : MAX_READ;
    const count = Math.min(wanted, MAX_JUDGED - meta.checked);
    const ids = selectIds(filters, meta.cursor ?? NIL_UUID);
    const { sources, more } = await readSources(database, ids, count);
    meta.more = more;
    for (const source of sources) {
      if (isFull()) {
        meta.more = true;
        break;
      }
      await pace();
      const judged = judgeSource(source, profile);
      meta.cursor = source.id;
      meta.checked++;
      if (judged.ready) meta.ready++;
      if (ready === undefined || judged.ready === ready) products.push(judged);
    }
  }
  return { products, meta };
}

function judgeSource(source: RecordSource, profile: Profile): JudgedProduct {
  const book = bookOf(source);
  const { id, title, isbn13, product_code } = book.product;
  const readiness = guarded(
    (): Readiness => {
      const mended = writeRecord(book, receivedIn(source), profile.release);
      return judge(profile, {
        header: headerOf(source, new Date()),
        record: withoutDemanded(mended),
        product: book.product,
      });
    },
    () => NOT_SENT,
    id as string,
  );
  return { id, title, isbn13, product_code, ...readiness };
}

/** The verdict on a product whose record the service fails to write: the feed goes without it. */
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
