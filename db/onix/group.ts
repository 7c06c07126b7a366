import { type Entry, type ProductBody, sentBack } from "../../schema/bodies.ts";
import { parseExact } from "../../schema/numbers.ts";
import {
  type Incoming,
  replaceBlocks,
  replaceTerritories,
} from "../../schema/onix/mapping/incoming.ts";
import {
  type Differences,
  differences,
  writeRecord,
} from "../../schema/onix/mapping/outgoing.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import type { Message, Outcome } from "../../schema/onix/report/report.ts";
import { inTurns, type Steps } from "../../schema/onix/xml/steps.ts";
import { fromStored } from "../../schema/onix/xml/write.ts";
import { ARRAYS } from "../../schema/product.ts";
import { unavailable } from "../../schema/errors.ts";
import { brokenConstraint, isDataError } from "../connections/errors.ts";
import {
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { type Change, missesRows } from "../products/change.ts";
import { productId, readCurrent, storeWritten } from "../products/documents.ts";
import { idsInPrograms, IN_PROGRAM, TOO_LARGE } from "../products/errors.ts";
import { lockKeys } from "../products/keys.ts";
import { changedFields } from "../products/upsert.ts";
import { writeProducts } from "../products/write.ts";
import { uuidv7 } from "../uuid.ts";
import { byId, contributorsJson } from "./books.ts";
import {
  findProducts,
  type Found,
  keysOf,
  lockFound,
  Matches,
} from "./find.ts";
import { type Item, outcomeOf, storedForm } from "./items.ts";
import { ambiguousName, asNamed, linkRecords, type Links } from "./links.ts";

/*
 * Writes a group of records in one transaction. It uses the statements of a batch of
 * upserts, and stores the records beside the products.
 */

export interface GroupOptions {
  /** Does the same work, and writes nothing. */
  dryRun: boolean;
  /** Awaited between the records, so that other requests have their turn. */
  pace: () => Promise<void>;
}

/**
 * Writes the records of a group, and returns their outcomes by item. A record at fault is
 * rejected by itself. Throws the errors that no record caused.
 */
export async function writeGroup(
  queries: () => Queries,
  items: readonly Item[],
  options: GroupOptions,
): Promise<Map<Item, Outcome>> {
  const outcomes = new Map<Item, Outcome>();
  let rest = await withoutUnchanged(queries(), items, outcomes);
  while (rest.length > 0) {
    const done = await writeTogether(queries(), rest, options);
    for (const [item, outcome] of done.outcomes) outcomes.set(item, outcome);
    rest = done.later;
  }
  return outcomes;

  /** Divides records that cannot be written together in half, down to the one at fault. */
  async function writeTogether(
    database: Queries,
    items: readonly Item[],
    options: GroupOptions,
  ): Promise<Done> {
    try {
      return await write(database, items, options);
    } catch (error) {
      const fault = faultOf(error);
      if (!fault) throw error;
      if (items.length > 1) {
        const half = items.length >> 1;
        const { outcomes, later } = await writeTogether(
          queries(),
          items.slice(0, half),
          options,
        );
        return { outcomes, later: [...later, ...items.slice(half)] };
      }
      if (missesRows(error)) {
        throw unavailable(
          "The products are being changed by other requests",
          error,
        );
      }
      const [item] = items as [Item];
      const outcome = outcomeOf(item, "rejected", null, fault);
      return { outcomes: new Map([[item, outcome]]), later: [] };
    }
  }
}

/** What a transaction has done. */
interface Done {
  outcomes: Map<Item, Outcome>;
  /** The records that the next transaction writes. */
  later: Item[];
}

/**
 * The records that may change something. The others get their outcome without a
 * transaction: the product has their record, and has not changed since.
 */
async function withoutUnchanged(
  database: Queries,
  items: readonly Item[],
  outcomes: Map<Item, Outcome>,
): Promise<readonly Item[]> {
  const matches = new Matches(await database.scan(findProducts(items)));
  const ofProduct = Map.groupBy(items, (item) => idOf(matches.of(item)));
  return items.filter((item) => {
    const found = matches.of(item);
    const isOnly = ofProduct.get(idOf(found))!.length === 1;
    // Of several records of a product, the last one counts.
    if (!isUnchanged(item, found) || !isOnly) return true;
    outcomes.set(item, outcomeOf(item, "unchanged", idOf(found)));
    return false;
  });
}

function isUnchanged(
  { digest, incoming: { notification } }: Item,
  found: Found | "ambiguous" | undefined,
): boolean {
  return typeof found === "object" && found.is_current &&
    found.digest === digest && notification !== "04" && notification !== "05";
}

function idOf(found: Found | "ambiguous" | undefined): string | null {
  return typeof found === "object" ? found.id : null;
}

/** Ends the transaction of a dry run. */
class DryRun extends Error {
  readonly done: Done;

  constructor(done: Done) {
    super("A dry run is rolled back");
    this.done = done;
  }
}

/** The error of a product that would be too large. */
class TooLarge extends Error {}

async function write(
  database: Queries,
  items: readonly Item[],
  { dryRun, pace }: GroupOptions,
): Promise<Done> {
  try {
    return await database.transaction(async (tx) => {
      const [, , found] = await tx.send(
        lockKeys(keysOf(items)),
        lockFound(items),
        findProducts(items),
      );
      const plan = planOf(items, new Matches(found));
      const stored = await writePlanned(tx, plan, pace);
      if (dryRun) {
        await tx.send(...stored);
        for (const { item, found } of plan.changes) {
          // The product that it creates is rolled back.
          if (!found) plan.outcomes.get(item)!.id = null;
        }
        throw new DryRun(plan);
      }
      await tx.commit(...stored);
      return plan;
    }, WAITS);
  } catch (error) {
    if (error instanceof DryRun) return error.done;
    throw error;
  }
}

/** Another import of the same records may take longer than the time for other locks. */
const WAITS = sql`set local lock_timeout = '8s'`;

/** A record that creates or changes its product. */
interface Planned {
  item: Item;
  id: string;
  /** Absent for a new product. */
  found?: Found;
}

/** A product with what is written of it. */
interface Written extends Planned, Change {
  id: string;
  /** The record to store, its text and the hash of that. */
  record: Element;
  text: string;
  digest: string;
}

/** What a transaction does. */
interface Plan extends Done {
  changes: Planned[];
  deletions: Planned[];
}

/**
 * Plans one transaction, in which each product is written once. Of several whole records
 * of a product the last one counts. A partial update after another record of its product
 * comes later, as does a record that could find a product by what this transaction writes.
 */
function planOf(items: readonly Item[], matches: Matches): Plan {
  const outcomes = new Map<Item, Outcome>();
  const planned = new Map<string, Planned>();
  const writtenIsbns = new Set<string>();
  let later: Item[] = [];

  for (const [at, item] of items.entries()) {
    const { reference, isbn13, notification } = item.incoming;
    const found = matches.of(item);
    if (found === "ambiguous") {
      outcomes.set(item, outcomeOf(item, "rejected", null, ambiguous(isbn13)));
      continue;
    }
    const names = found
      ? [`id ${found.id}`]
      : [`reference ${reference}`, ...isbn13 ? [`isbn ${isbn13}`] : []];
    const earlier = names.map((name) => planned.get(name)).find((one) => one);
    const findsWritten = !found && isbn13 !== null && !earlier &&
      writtenIsbns.has(isbn13);
    if (findsWritten || earlier && notification === "04") {
      later = items.slice(at);
      break;
    }
    if (earlier) {
      outcomes.set(
        earlier.item,
        outcomeOf(
          earlier.item,
          "unchanged",
          found?.id ?? null,
          superseded(item),
        ),
      );
      for (const [name, one] of planned) {
        if (one === earlier) planned.delete(name);
      }
    }
    if (!found && notification === "04") {
      outcomes.set(item, outcomeOf(item, "rejected", null, NOT_FOUND));
      continue;
    }
    if (!found && notification === "05") {
      outcomes.set(item, outcomeOf(item, "unchanged", null, UNKNOWN));
      continue;
    }
    const one: Planned = found
      ? { item, id: found.id, found }
      : { item, id: uuidv7() };
    for (const name of names) planned.set(name, one);
    if (found && isbn13) writtenIsbns.add(isbn13);
  }

  const all = [...new Set(planned.values())];
  const changes: Planned[] = [];
  const deletions: Planned[] = [];
  for (const one of all) {
    const { item, id, found } = one;
    if (item.incoming.notification === "05") deletions.push(one);
    else if (isUnchanged(item, found)) {
      outcomes.set(item, outcomeOf(item, "unchanged", id));
    } else changes.push(one);
  }
  return { outcomes, later, changes, deletions };
}

/** Writes what is planned, and returns the statements that store the records. Sets the outcomes. */
async function writePlanned(
  tx: Transaction,
  plan: Plan,
  pace: () => Promise<void>,
): Promise<Statement[]> {
  const { outcomes } = plan;
  const deletions = await checkPrograms(tx, plan);
  if (plan.changes.length + deletions.length === 0) return [];
  const links = await linkRecords(
    tx,
    plan.changes.map(({ item }) => item.incoming.linked),
  );
  const stored = await readStored(tx, plan.changes);
  const changes: Written[] = [];
  const current = new Map(plan.changes.map((one) => [one.id, one]));

  for (const one of plan.changes) {
    if (one.found) continue;
    const { body, messages } = bodyOf(one.item, links, undefined);
    const { record, text, digest } = one.item;
    changes.push({ ...one, body, isNew: true, record, text, digest });
    outcomes.set(one.item, outcomeOf(one.item, "created", one.id, ...messages));
  }
  const existing = plan.changes.flatMap(({ found }) => found?.id ?? []);
  for await (const { id, product } of readCurrent(tx, existing)) {
    await pace();
    const one = current.get(id)!;
    const before = parseExact(product) as Entry;
    const form = await inTurns(
      formToStore(one, stored.get(id), before),
      pace,
    );
    if (form.digest === one.found!.digest && one.found!.is_current) {
      outcomes.set(one.item, outcomeOf(one.item, "unchanged", id));
      continue;
    }
    const { body, messages } = bodyOf(one.item, links, before);
    const changed = changedFields(product, body);
    if (
      form.digest === one.found!.digest && Object.keys(changed).length === 0
    ) {
      // The product has changed in what ONIX does not say.
      outcomes.set(one.item, outcomeOf(one.item, "unchanged", id, ...messages));
      continue;
    }
    // The record changes what is sent of the product, even if no field changes.
    const moved = { title: before.title, ...changed };
    changes.push({ ...one, body: moved, isNew: false, isWhole: true, ...form });
    outcomes.set(one.item, outcomeOf(one.item, "updated", id, ...messages));
  }
  for (const { item, id } of deletions) {
    outcomes.set(item, outcomeOf(item, "deleted", id));
  }
  if (changes.length + deletions.length === 0) return [];

  const writes = writeProducts(tx, changes, deletions.map(({ id }) => id));
  if (changes.length === 0) return writes;
  const replies = await tx.send(
    ...writes,
    storeWritten(tx, changes, { returning: productId, omitsLarge: true }),
  );
  if (replies.at(-1)!.length < changes.length) throw new TooLarge();
  return [await recordsOf(tx, changes, pace)];
}

/** The deletions of products that are in no program. The others are rejected. */
async function checkPrograms(
  tx: Transaction,
  { deletions, outcomes }: Plan,
): Promise<Planned[]> {
  if (deletions.length === 0) return [];
  const [used] = await tx.send(idsInPrograms(deletions.map(({ id }) => id)));
  const ids = new Set(used.map(({ product_id }) => product_id));
  return deletions.filter(({ item, id }) => {
    if (!ids.has(id)) return true;
    outcomes.set(item, outcomeOf(item, "rejected", id, IN_USE));
    return false;
  });
}

/** The stored records that partial updates change, by product. */
async function readStored(tx: Transaction, changes: readonly Planned[]) {
  const ids = changes.flatMap(({ item, id }) =>
    item.incoming.notification === "04" ? id : []
  );
  if (ids.length === 0) return new Map<string, StoredRecord>();
  const [rows] = await tx.send(sql<StoredRecord>`
    select
      p.id,
      n.record,
      n.record_reference as reference,
      n.differences,
      o.name as organization,
      ${
    contributorsJson(sql`in (
      select x.contributor_id
      from product_contributors x
      where x.organization_id = ${organization} and x.product_id = p.id
    )`)
  } as contributors
    from products p
    join organizations o on o.id = ${organization}
    left join onix_records n on n.organization_id = ${organization} and n.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `);
  return new Map(rows.map((row) => [row.id, row]));
}

interface StoredRecord {
  id: string;
  record: string | null;
  reference: string | null;
  differences: Differences | null;
  organization: string;
  contributors: string;
}

/** The record to store: that of the message, or the present one with the blocks of a partial update. */
function* formToStore(
  { item, found }: Planned,
  stored: StoredRecord | undefined,
  product: Entry,
): Steps<{ record: Element; text: string; digest: string }> {
  if (item.incoming.notification !== "04") return item;
  const { record, reference, organization, contributors, differences } =
    stored!;
  const received = record === null
    ? null
    : { record: yield* fromStored(record), differences };
  const base = received && found!.is_current
    ? received.record
    // What requests have changed since stays changed.
    : (yield* writeRecord(
      { product, contributors: byId(contributors), organization, reference },
      received,
      "3.1",
    )).record;
  const updated = replaceBlocks(base, item.record);
  return { record: updated, ...yield* storedForm(updated) };
}

/** The body that a record writes to its product, and the warnings about what it names. */
function bodyOf(
  { incoming }: Item,
  links: Links,
  before: Entry | undefined,
): { body: ProductBody; messages: Message[] } {
  const { linked, product_territories, product_sales_rights } = incoming;
  const messages: Message[] = [];
  const warn = (noun: string, path: string) => (name: string) =>
    messages.push(ambiguousName(noun, path, name));
  const body: ProductBody = { ...incoming.body };

  function link(
    table: "publishers" | "imprints",
    field: string,
    path: string,
    name: string | null | undefined,
  ) {
    if (name === undefined) return;
    body[field] = name === null
      ? null
      : links.idOf(table, { name }, warn(table, path));
  }

  link(
    "publishers",
    "publisher_id",
    "/Product/PublishingDetail/Publisher/PublisherName",
    linked.publisher,
  );
  link(
    "imprints",
    "imprint_id",
    "/Product/PublishingDetail/Imprint/ImprintName",
    linked.imprint,
  );
  for (
    const [field, list, code] of [
      ["publishing_status_id", "publishing_statuses", linked.publishing_status],
      [
        "product_availability_id",
        "product_availabilities",
        linked.product_availability,
      ],
    ] as const
  ) {
    if (code === undefined) continue;
    body[field] = code === null ? null : links.codeId(list, code) ?? null;
  }
  if (linked.product_form !== undefined) {
    const format = formatFor(linked.product_form, links, before);
    if (format !== undefined) body.format_id = format;
  }
  if (linked.contributors) {
    const seen = new Set<string>();
    body.contributors = linked.contributors.flatMap(
      ({ role, contributor, path }) => {
        const contributor_id = links.idOf(
          "contributors",
          asNamed(contributor),
          warn("contributors", path),
        );
        const contributor_role_id = links.codeId("contributor_roles", role);
        const key = `${contributor_id} ${contributor_role_id}`;
        if (!contributor_role_id || seen.has(key)) return [];
        seen.add(key);
        return [{ contributor_id, contributor_role_id }];
      },
    );
  }
  if (linked.collections) {
    const seen = new Set<string>();
    const collections = linked.collections.flatMap(
      ({ name, part_number, path }) => {
        const collection_id = links.idOf(
          "collections",
          { name },
          warn("collections", path),
        );
        if (seen.has(collection_id)) return [];
        seen.add(collection_id);
        return [{ collection_id, part_number }];
      },
    );
    body.product_collections = collections;
    if (before?.series_id && !seen.has(before.series_id as string)) {
      body.series_id = null;
    }
  }
  if (product_territories) {
    body.product_territories = incoming.byMarketReference && before
      ? mergedTerritories(before, incoming)
      : product_territories;
  }
  if (product_sales_rights) body.product_sales_rights = product_sales_rights;
  return { body, messages };
}

/** The format for a form: the product's own if it has that form. Undefined: it stays. */
function formatFor(
  form: string | null,
  links: Links,
  before: Entry | undefined,
): string | null | undefined {
  const formId = form === null
    ? null
    : links.codeId("product_forms", form) ?? null;
  if (before?.format_id && (before.product_form_id ?? null) === formId) return;
  return formId === null ? null : links.formatOf(formId);
}

/** Territories with those of a partial update. Labels and the like are left out. */
function mergedTerritories(before: Entry, { product_territories }: Incoming) {
  const present = before.product_territories as Entry[];
  const merged = replaceTerritories(present, product_territories!);
  return sentBack(ARRAYS.product_territories, merged);
}

/** The statement that stores the records of written products. */
async function recordsOf(
  tx: Transaction,
  changes: readonly Written[],
  pace: () => Promise<void>,
): Promise<Statement> {
  const ids = changes.map(({ id }) => id);
  const byProduct = new Map(changes.map((change) => [change.id, change]));
  const [[beside]] = await tx.send(
    sql<{ organization: string; contributors: string }>`
      select
        o.name as organization,
        ${
      contributorsJson(sql`in (
        select x.contributor_id
        from product_contributors x
        where x.organization_id = ${organization} and x.product_id ${
        isOneOf(ids)
      }
      )`)
    } as contributors
      from organizations o
      where o.id = ${organization}
    `,
  );
  const contributors = byId(beside!.contributors);
  const rows: Entry[] = [];
  for await (const { id, product } of readCurrent(tx, ids)) {
    await pace();
    const { item, found, record, text, digest } = byProduct.get(id)!;
    const reference = found?.reference ?? item.incoming.reference;
    const book = {
      product: parseExact(product) as Entry,
      contributors,
      organization: beside!.organization,
      reference,
    };
    rows.push({
      product_id: id,
      record_reference: reference,
      record: text,
      digest,
      differences: differences(book, record),
    });
  }
  return sql`
    insert into onix_records (
      organization_id, product_id, record_reference, record, digest, product_updated_at, differences
    )
    select
      p.organization_id, p.id, r.record_reference, r.record, r.digest, p.updated_at, r.differences
    from products p
    join jsonb_to_recordset(${json(rows)})
      r (product_id uuid, record_reference text, record text, digest text, differences jsonb)
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
    on conflict (organization_id, product_id) do update set
      record = excluded.record,
      digest = excluded.digest,
      product_updated_at = excluded.product_updated_at,
      differences = excluded.differences
  `;
}

/** The message of the record that a failed transaction wrote, or undefined if no record caused the failure. */
function faultOf(error: unknown): Message | undefined {
  if (error instanceof TooLarge) {
    return fault(TOO_LARGE.code, TOO_LARGE.message);
  }
  if (brokenConstraint(error) === IN_PROGRAM) return IN_USE;
  if (!isDataError(error)) return;
  const { code } = error as { code: string };
  return fault("refused", `The database refuses the record (SQLSTATE ${code})`);
}

function fault(
  code: string,
  message: string,
  value: string | null = null,
): Message {
  return { severity: "error", code, path: "/Product", value, message };
}

const NOT_FOUND = fault(
  "not_found",
  "No product has the reference or the ISBN of this partial update",
);

const IN_USE = fault(
  "in_use",
  "The product is used in a publishing program: remove it there first",
);

function ambiguous(isbn: string | null): Message {
  return {
    ...fault("ambiguous", "Several products have this ISBN", isbn),
    path: "/Product/ProductIdentifier/IDValue",
  };
}

const UNKNOWN: Message = {
  severity: "warning",
  code: "not_found",
  path: "/Product/RecordReference",
  value: null,
  message: "No product has this reference: there is nothing to delete",
};

function superseded({ incoming: { line } }: Item): Message {
  return {
    severity: "warning",
    code: "superseded",
    path: "/Product",
    value: null,
    message:
      `The record on line ${line} is of the same product, and counts instead`,
  };
}
