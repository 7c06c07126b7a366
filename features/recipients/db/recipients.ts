import { ApiError, conflict } from "../../../schema/errors.ts";
import type { RecordQuery } from "../../../schema/record_query.ts";
import { EVERYTHING, isOpen, type View } from "../../../schema/view.ts";
import {
  json,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../db/connections/sql.ts";
import { viewOf } from "../../../db/credentials.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import { transactionOrDryRun } from "../../../db/dry_run.ts";
import { assertPrecondition, etagOf, type Precondition } from "../../../db/entity_tag.ts";
import { type EntryPage, limitOf } from "../../../db/entry_page.ts";
import { type KeyedRequest, withIdempotencyKey } from "../../../db/idempotency.ts";
import { namesContaining } from "../../../db/products/lists/search.ts";
import { RECORD_SORTING } from "../../../db/records/records.ts";
import { nextUpdate, rfc3339 } from "../../../db/times.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import {
  type Effect,
  MAX_RECIPIENTS,
  type NewRecipient,
  type RecipientChange,
} from "../schema/recipient.ts";
import { assertKnown } from "./criteria.ts";
import { countOf, effectOf } from "./effect.ts";

/* Creates, lists, changes and deletes recipients. */

/** A stored recipient, with the state of its feed. */
interface StoredRecipient extends View {
  name: string;
  last_fetched_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A recipient as responses have it. */
type ShownRecipient = StoredRecipient & { products: number };

interface StoredRow {
  id: string;
  recipient: Omit<StoredRecipient, "id">;
}

const recipients = sql<StoredRow>`
  select r.id, r.view || jsonb_build_object(
    'name', r.name,
    'last_fetched_at', ${rfc3339("f.fetched_at")},
    'created_at', ${rfc3339("r.created_at")},
    'updated_at', ${rfc3339("r.updated_at")}
  ) as recipient
  from recipients r
  left join recipient_fetches f on f.organization_id = ${organization} and f.recipient_id = r.id
  where r.organization_id = ${organization}
`;

function storedOf({ id, recipient: { name, ...others } }: StoredRow): StoredRecipient {
  const { selection, except, leave_out, currencies, price_types, last_fetched_at, ...times } =
    others;
  const view = { selection, except, leave_out, currencies, price_types };
  return { id, name, ...view, last_fetched_at, ...times };
}

/** Returns the entity tag of a recipient. Fetches and the number of products do not change it. */
function tagOf({ last_fetched_at: _, ...recipient }: StoredRecipient): string {
  return etagOf(JSON.stringify(recipient));
}

/** Adds the number of products, which precedes the times in responses. */
function shownRecipient(
  { last_fetched_at, created_at, updated_at, ...recipient }: StoredRecipient,
  products: number,
): ShownRecipient {
  return { ...recipient, products, last_fetched_at, created_at, updated_at };
}

/** Adds to each recipient the number of its products. */
async function counted(
  database: Pick<Queries, "scan">,
  stored: readonly StoredRecipient[],
): Promise<ShownRecipient[]> {
  if (stored.length === 0) return [];
  const [row] = await database.scan(unprepared(sql<{ counts: number[] }>`
    select to_json(array[${
    stored.map((one, i) => sql`${raw(i > 0 ? ", " : "")}${countOf(one)}`)
  }]) as counts
  `));
  return stored.map((one, i) => shownRecipient(one, row!.counts[i]!));
}

/** A page of the recipients. */
export async function listRecipients(
  database: Queries,
  query: RecordQuery,
): Promise<EntryPage> {
  const { search, name, sort } = query;
  const filters = [
    ...namesContaining(search),
    ...name === undefined ? [] : [sql` and compared_name(r.name) = compared_name(${name})`],
  ];
  const rows = await database.scan(unprepared(sql<StoredRow>`
    ${recipients} ${filters} order by ${RECORD_SORTING[sort]} ${limitOf(query)}
  `));
  const [all] = await database.scan(unprepared(sql<{ total: number }>`
    select count(*)::int as total from recipients r where r.organization_id = ${organization} ${filters}
  `));
  const entries = await counted(database, rows.map(storedOf));
  return { entries: JSON.stringify(entries), total: all!.total };
}

function recipientById(id: string) {
  return sql`${recipients} and r.id = ${id}` as typeof recipients;
}

/** A recipient, with its tag. Throws `NOT_FOUND`. */
export async function getRecipient(
  database: Queries,
  id: string,
): Promise<{ recipient: ShownRecipient; etag: string }> {
  const [found] = await database.lookUp(recipientById(id));
  if (!found) throw recipientNotFound(id);
  const stored = storedOf(found);
  const [recipient] = await counted(database, [stored]);
  return { recipient: recipient!, etag: tagOf(stored) };
}

/** The id of the one recipient with this name. Throws if there is none, or several. */
export async function recipientNamed(database: Queries, name: string): Promise<string> {
  const found = await database.lookUp(sql<{ id: string }>`
    select r.id from recipients r
    where r.organization_id = ${organization} and compared_name(r.name) = compared_name(${name})
    limit 2
  `);
  if (found.length === 1) return found[0]!.id;
  throw new Error(
    found.length === 0
      ? `No recipient has the name "${name}"`
      : `Two recipients have the name "${name}"`,
  );
}

/** Returns the view of the one recipient with this name. Throws as `recipientNamed` does. */
export async function viewNamed(database: Queries, name: string): Promise<View> {
  const [found] = await database.lookUp(viewOf(await recipientNamed(database, name)));
  return found!.view;
}

function recipientNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No recipient with id "${id}"`);
}

/** The view of a body, or of a recipient that a body changes. */
function viewIn(
  { selection, except, leave_out, currencies, price_types }: RecipientChange & Omit<View, "id">,
): Omit<View, "id"> {
  return {
    selection,
    // Without criteria, there is no exception.
    except: except && Object.keys(except).length > 0 ? except : null,
    leave_out,
    currencies: currencies ?? null,
    price_types: price_types ?? null,
  };
}

const recipientCount = sql<{ count: number }>`
  select count(*)::int as count from recipients r where r.organization_id = ${organization}
`;

/**
 * Creates a recipient, once per `Idempotency-Key`. Throws `VALIDATION_ERROR` for unknown ids, and
 * `CONFLICT` beyond `MAX_RECIPIENTS`. A dry run is rolled back.
 */
export async function createRecipient(
  database: Queries,
  body: NewRecipient,
  isDryRun: boolean,
  request: KeyedRequest,
) {
  await assertKnown(database, body);
  const id = uuidv7();
  const view = viewIn(body);
  const write = async (tx: Transaction) => {
    const [, , [known]] = await tx.send(
      // Two requests at once must not both find room for one more.
      sql`select pg_advisory_xact_lock(hashtextextended(${organization}::text, 48))`,
      sql`
        insert into recipients (organization_id, id, name, view)
        values (${organization}, ${id}, ${body.name}, ${json(view)})
      `,
      recipientCount,
    );
    if (known!.count > MAX_RECIPIENTS) {
      const message = `An organization has at most ${MAX_RECIPIENTS} recipients`;
      throw conflict("limit_reached", message, MAX_RECIPIENTS);
    }
    const [[effect], [stored]] = await tx.send(effectOf(undefined, view), recipientById(id));
    return responseOf(stored!, effect!);
  };
  if (isDryRun) {
    const data = await transactionOrDryRun(database, true, write);
    return { id, response: data.text, etag: data.etag, isReplayed: false };
  }
  let etag: string | undefined;
  const outcome = await withIdempotencyKey(database, request, async (tx, storeResponse) => {
    const data = await write(tx);
    etag = data.etag;
    await tx.commit(...storeResponse(sql`
      select ${organization}::uuid as organization_id, ${id}::uuid as record_id, ${data.text}::text as answer
    `));
    return { id, response: data.text };
  });
  return { ...outcome, etag: etag ?? etagOfResponse(outcome.response) };
}

/** The tag of the recipient in a response to its creation. */
function etagOfResponse(response: string): string {
  const { products: _, effect: __, ...stored } = JSON.parse(response);
  return tagOf(stored as StoredRecipient);
}

/** The data of a response: the recipient with its products, and the effect of the write. */
function responseOf(
  row: StoredRow,
  { comes, leaves, products = comes }: Effect & { products?: number },
): { text: string; etag: string } {
  const recipient = storedOf(row);
  const text = JSON.stringify({
    ...shownRecipient(recipient, products),
    effect: { comes, leaves },
  });
  return { text, etag: tagOf(recipient) };
}

/** Locks a recipient, if it exists, until the end of the transaction. Its feed waits. */
async function lockRecipient(tx: Transaction, id: string): Promise<StoredRecipient | undefined> {
  const [, [found]] = await tx.send(
    sql`select from recipients r where r.organization_id = ${organization} and r.id = ${id} for update`,
    recipientById(id),
  );
  return found && storedOf(found);
}

/** Returns the time now. The transaction began before it waited for the recipient. */
async function currentTime(tx: Transaction): Promise<string> {
  const [[row]] = await tx.send(sql<{ now: string }>`select clock_timestamp()::text as now`);
  return row!.now;
}

/** Records when a recipient that saw every product at its last fetch gets criteria. */
function endOpenView(id: string, time: string): Statement {
  return sql`
    update recipient_fetches f
    set open_until = ${time}::timestamptz
    where f.organization_id = ${organization} and f.recipient_id = ${id}
      and f.criteria = ${json(EVERYTHING)} and f.open_until is null
  `;
}

/**
 * Changes the fields that the body has. If what is left out changes, the feed shows every product of
 * the view again. Throws `NOT_FOUND`, `VALIDATION_ERROR` or the error of the precondition.
 */
export async function updateRecipient(
  database: Queries,
  id: string,
  body: RecipientChange,
  isDryRun: boolean,
  precondition: Precondition | undefined,
) {
  await assertKnown(database, body);
  return await transactionOrDryRun(database, isDryRun, async (tx) => {
    const before = await lockRecipient(tx, id);
    if (!before) throw recipientNotFound(id);
    if (precondition) assertPrecondition(precondition, tagOf(before));
    const after = viewIn({ ...before, ...body });
    const isShownOtherwise = ["leave_out", "currencies", "price_types"].some((name) =>
      JSON.stringify(before[name as keyof View]) !==
        JSON.stringify(after[name as keyof typeof after])
    );
    if (Object.keys(body).length > 0) {
      await tx.send(sql`
        update recipients r
        set
          name = ${body.name ?? before.name},
          view = ${json(after)},
          refreshed_version = ${
        isShownOtherwise ? raw("change_version()") : raw("r.refreshed_version")
      },
          updated_at = ${nextUpdate("r.updated_at")}
        where r.organization_id = ${organization} and r.id = ${id}
      `);
      if (isOpen(before) && !isOpen(after)) await tx.send(endOpenView(id, await currentTime(tx)));
    }
    const [[effect], [stored], [count]] = await tx.send(
      effectOf(before, after),
      recipientById(id),
      unprepared(sql<{ products: number }>`select ${countOf(after)} as products`),
    );
    return responseOf(stored!, { ...effect!, ...count! });
  });
}

/**
 * Deletes a recipient. Returns whether it existed, and how many products it saw. Throws `CONFLICT`
 * while a key that still works is bound to it.
 */
export async function deleteRecipient(
  database: Queries,
  id: string,
  isDryRun: boolean,
  precondition: Precondition | undefined,
): Promise<{ deleted: boolean; effect: Effect }> {
  return await transactionOrDryRun(database, isDryRun, async (tx) => {
    const stored = await lockRecipient(tx, id);
    if (precondition) assertPrecondition(precondition, stored && tagOf(stored));
    if (!stored) return { deleted: false, effect: { comes: 0, leaves: 0 } };
    const [[keys], [effect]] = await tx.send(
      sql<{ count: number }>`
        select count(*)::int as count
        from api_keys k
        where k.organization_id = ${organization} and k.recipient_id = ${id}
          and coalesce(least(k.expires_at, k.revoked_at) > now(), true)
      `,
      effectOf(stored, undefined),
    );
    const { count } = keys!;
    if (count > 0) {
      const message = count === 1 ? "1 key is bound to it" : `${count} keys are bound to it`;
      throw new ApiError("CONFLICT", `The recipient is in use: ${message}`, {
        details: [{ code: "in_use", count, message }],
      });
    }
    const isIts = sql`where x.organization_id = ${organization} and x.recipient_id = ${id}`;
    await tx.send(
      sql`delete from recipient_products x ${isIts}`,
      sql`delete from recipient_fetches x ${isIts}`,
      sql`delete from recipients r where r.organization_id = ${organization} and r.id = ${id}`,
    );
    return { deleted: true, effect: effect! };
  });
}
