import { Buffer } from "node:buffer";
import * as v from "valibot";
import { DateTime } from "../../../schema/date_time.ts";
import { invalid } from "../../../schema/errors.ts";
import { at, closedObject } from "../../../schema/objects.ts";
import { choices, limit, Time } from "../../../schema/parameters.ts";
import { FIELDS } from "../../../schema/product.ts";
import {
  Count,
  described,
  heading,
  oneOf,
  optionalFlag,
  Timestamp,
  Uuid,
  UUID_PATTERN,
} from "../../../schema/values.ts";
import { Recipient } from "../../../schema/view.ts";

/* The history of products: its queries, bodies and responses. */

const VERSION_NUMBER = /^[1-9]\d{0,17}$/;

/** A version of a product, as histories show it: the `change_version` of its document. */
const Version = v.pipe(
  v.string("invalid_type: Expected a version as a string"),
  v.regex(
    VERSION_NUMBER,
    "invalid_version: Expected a version as the history shows it",
  ),
);

/** An instant. A day means its end in UTC. A client's unescaped `+` before the offset arrives as a space. */
const At = v.pipe(
  v.string("invalid_type: Expected a time as a string"),
  v.examples(["2027-01-31"]),
  v.transform((text) =>
    /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T23:59:59.999Z` : text.replace(/ (?=\d\d:\d\d$)/, "+")
  ),
  DateTime,
);

/** The choice of a version: one of the two. */
const CHOICE = {
  version: described(
    "A version, as the history shows it.",
    v.optional(Version),
  ),
  at: described(
    "A time. A day means its end in UTC.",
    v.optional(At),
  ),
};

/** A version, or the time at which it was shown. */
export interface Choice {
  version?: string | undefined;
  at?: string | undefined;
}

const ONE_OF_BOTH = "contradictory: Send either version or at";

/** The parameters of `GET /products/{id}`. */
export const VersionParameters = v.object({ ...CHOICE, recipient: Recipient });

/** Whether a query chooses a version. Throws `VALIDATION_ERROR` for two choices. */
export function choosesVersion(choice: Choice): boolean {
  if (choice.version !== undefined && choice.at !== undefined) {
    const [code, message] = ONE_OF_BOTH.split(": ") as [string, string];
    throw invalid("The query", [{ parameter: "at", code, message }]);
  }
  return choice.version !== undefined || choice.at !== undefined;
}

/** The position in a history of the organization: after the version of this product at this time. */
export interface HistoryCursor {
  at: string;
  id: string;
}

const CURSOR = new RegExp(
  `^(?<at>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z) (?<id>${UUID_PATTERN})$`,
);

const INVALID_CURSOR = "invalid_cursor: Expected a cursor as `meta.cursor` gave it";

/** The cursor as text, as clients see it (base64url, RFC 4648). */
export function historyCursor({ at, id }: HistoryCursor): string {
  return Buffer.from(`${at} ${id}`).toString("base64url");
}

/** The cursor in a text. Undefined for another text, such as one with February 30. */
export function historyCursorOf(text: string): HistoryCursor | undefined {
  const found = CURSOR.exec(Buffer.from(text, "base64url").toString("latin1"));
  const cursor = found?.groups as unknown as HistoryCursor | undefined;
  return cursor && isTime(cursor.at) ? cursor : undefined;
}

/** Whether PostgreSQL reads the text as this time as well. It has no year 0. */
function isTime(text: string): boolean {
  const date = new Date(text);
  return !text.startsWith("0000") && !Number.isNaN(date.valueOf()) && date.toISOString() === text;
}

const AfterEntry = v.pipe(
  v.string(),
  v.transform(historyCursorOf),
  v.check((cursor) => cursor !== undefined, INVALID_CURSOR),
  v.transform((cursor) => cursor!),
);

const AfterVersion = v.pipe(v.string(), v.regex(VERSION_NUMBER, INVALID_CURSOR));

const Limit = described(
  "The size of a page. A limit above 100 counts as 100.",
  v.optional(limit(100), "50"),
);

const AFTER = "The `meta.cursor` of the last response. Without it, the newest come first.";

/** The fields of products whose changes histories show. */
const TRACKED_FIELDS = Object.entries(FIELDS).flatMap(([name, field]) =>
  ["shown", "derived", "linked"].includes(field.kind) || field.kind === "column" && !field.body
    ? []
    : name
);

/** The fields that can be restored alone. The product form belongs to the format. */
export const RESTORABLE_FIELDS: readonly string[] = TRACKED_FIELDS.filter((name) => {
  const field = FIELDS[name]!;
  return field.kind !== "column" || !field.refers?.heldBy;
});

/** The parameters of `GET /products/{id}/history`. */
export const ProductHistoryParameters = v.object({
  limit: Limit,
  after: described(AFTER, v.optional(AfterVersion)),
  changed: described(
    "Only entries that changed one of these fields.",
    v.optional(choices(TRACKED_FIELDS)),
  ),
});

export type ProductHistoryQuery = v.InferOutput<
  typeof ProductHistoryParameters
>;

/** The parameters of `GET /products/deleted`. */
export const DeletedParameters = v.object({
  limit: Limit,
  after: described(AFTER, v.optional(AfterEntry)),
});

export type DeletedQuery = v.InferOutput<typeof DeletedParameters>;

/** The operations that write products, and the commands. */
const WRITING_OPERATIONS = [
  "createProduct",
  "updateProduct",
  "deleteProduct",
  "writeProducts",
  "replaceTerritories",
  "replaceSalesRights",
  "restoreProduct",
  "undoRequest",
  "history undo",
  "importOnix",
  "importSheet",
  "import",
] as const;

/** The number of days in which the entries of a request are searched. */
export const REQUEST_DAYS = 7;

/** The parameters of `GET /history`. */
export const HistoryParameters = v.object({
  since: described(
    `Entries from this time on. Without it, those of the last 24 hours, or of one request those of the last ${REQUEST_DAYS} days. A day means its beginning in UTC.`,
    v.optional(Time),
  ),
  until: described(
    "Entries up to this time. A day means its end in UTC.",
    v.optional(At),
  ),
  changed_by: described(
    "The `id` of who changed products: the public id of an API key, or the subject of a token. Also `command` or `database`.",
    v.optional(v.pipe(heading(500), v.examples(["rs4rqja4fgi3"]))),
  ),
  operation: described(
    "The `operationId`, or the command.",
    v.optional(oneOf(...WRITING_OPERATIONS)),
  ),
  request_id: described(
    "The `X-Request-Id` of a request, or the id of the run of a command.",
    v.optional(v.pipe(heading(128), v.examples(["0198c5d4-5b7e-7cc3-98c4-dc0c0c07398f"]))),
  ),
  limit: Limit,
  after: described(AFTER, v.optional(AfterEntry)),
});

export type HistoryQuery = v.InferOutput<typeof HistoryParameters>;

/** The parameters of `POST /products/{id}/restore`. */
export const RestoreParameters = v.object({
  dry_run: optionalFlag(
    "Whether nothing is written. The response is the same.",
  ),
});

export type RestoreQuery = v.InferOutput<typeof RestoreParameters>;

/** What is restored, and how. */
export const RESTORATION = {
  ...CHOICE,
  fields: described(
    "The fields to restore. Every other field stays as it is. Without it, all fields are restored. Not for a deleted product.",
    v.optional(v.pipe(
      v.array(
        v.picklist(
          RESTORABLE_FIELDS,
          `invalid_value: Expected one of ${RESTORABLE_FIELDS.join(", ")}`,
        ),
        "invalid_type: Expected a list of names of fields",
      ),
      v.minLength(1, "too_few: At least one field"),
      v.maxLength(RESTORABLE_FIELDS.length, `too_many: At most ${RESTORABLE_FIELDS.length} fields`),
    )),
  ),
  skip_missing: described(
    "Whether references to records that are gone are left out, and named in `skipped`. Without it, they are errors.",
    v.optional(v.boolean("invalid_type: Expected true or false")),
  ),
};

/** The body of `POST /products/{id}/restore`. */
export const RestoreProduct = v.pipe(
  closedObject(RESTORATION),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { version, at: time } = dataset.value;
    if (version === undefined || time === undefined) return;
    addIssue({ message: ONE_OF_BOTH, path: at("at") });
  }),
);

export type RestoreProduct = v.InferOutput<typeof RestoreProduct>;

export const EVENTS = ["created", "changed", "deleted", "restored"] as const;

const ChangedBy = described(
  "Who made the change.",
  v.object({
    kind: described(
      "`api_key`, `user` (a Bearer token), `command`, or `database`: SQL outside the service, recorded at the next read or write of the product.",
      v.picklist(["api_key", "user", "command", "database"]),
    ),
    id: described(
      "The public id of the key, or the subject of the token.",
      v.nullable(v.string()),
    ),
    name: described("The present name of the key.", v.nullable(v.string())),
  }),
);

const MADE = {
  operation: described(
    "The `operationId`, or the command. Null for `database`.",
    v.nullable(v.string()),
  ),
  request_id: described(
    "The `X-Request-Id` of the request.",
    v.nullable(v.string()),
  ),
};

export const HistoryChange = v.object({
  pointer: described(
    "The place in the product (JSON Pointer, RFC 6901): in the old array for what was removed, else in the new one.",
    v.string(),
  ),
  kind: described(
    "`moved` is an array whose entries are in another order: `from` and `to` are their old places, in the old and in the new order.",
    v.picklist(["changed", "added", "removed", "moved"]),
  ),
  from: described(
    "The value before. A long text is cut, and ends in `…`.",
    v.unknown(),
  ),
  to: described("The value after.", v.unknown()),
  products: described(
    "Of a product form: the number of other products with the same format, whose form changed with it.",
    v.optional(Count),
  ),
});

const CHANGES = {
  changes: described(
    "What changed of what `PUT` and the paths of rights and supply take, at most 100 changes. Null where the version before is not kept.",
    v.nullable(v.array(HistoryChange)),
  ),
  more_changes: described(
    "The number of changes that are not listed.",
    v.optional(v.pipe(v.number(), v.integer())),
  ),
};

const ENTRY = {
  version: described("The version that was made.", v.string()),
  at: described("When it was made.", Timestamp),
  event: described("What happened to the product.", v.picklist(EVENTS)),
  restored_from: described(
    "The version whose state was restored.",
    v.optional(v.string()),
  ),
  changed_by: ChangedBy,
  ...MADE,
  source: described(
    "The ONIX record that the change is from, or the line of a sheet.",
    v.optional(v.object({
      sender: described(
        "The `SenderName` of the message.",
        v.optional(v.nullable(v.string())),
      ),
      sent: described(
        "When the message was sent.",
        v.optional(v.nullable(Timestamp)),
      ),
      record_reference: described(
        "The `RecordReference`.",
        v.optional(v.string()),
      ),
      line: described(
        "The line of the sheet.",
        v.optional(v.pipe(v.number(), v.integer())),
      ),
    })),
  ),
};

/** An entry of the history of a product. */
export const HistoryEntry = v.object({ ...ENTRY, ...CHANGES });

const PRODUCT_NAMES = {
  id: described("The id of the product.", Uuid),
  title: described("The title of the product.", v.nullable(v.string())),
  isbn13: described("The ISBN of the product.", v.nullable(v.string())),
  product_code: described("The code of the product.", v.nullable(v.string())),
};

/** An entry of the history of the organization. */
export const OrganizationHistoryEntry = v.object({
  ...ENTRY,
  product: described("The product, as it was.", v.object(PRODUCT_NAMES)),
});

/** The parameters of `GET /products/{id}/history/compare`. */
export const CompareParameters = v.object({
  from: described("A version, as the history shows it.", Version),
  to: described("Another version. Without it, the present one.", v.optional(Version)),
});

export type CompareQuery = v.InferOutput<typeof CompareParameters>;

/** The changes from one version to another. */
export const Comparison = v.object({
  from: described("The version before.", v.string()),
  to: described("The version after.", v.string()),
  ...CHANGES,
});

/** A product that is deleted. */
export const DeletedEntry = v.object({
  ...PRODUCT_NAMES,
  record_reference: described(
    "The ONIX reference of the product.",
    v.nullable(v.string()),
  ),
  deleted_at: described("When it was deleted.", Timestamp),
  deleted_by: ChangedBy,
  ...MADE,
});

/** The `meta` of histories. */
export const HistoryMeta = v.object({
  cursor: described(
    "The cursor of the next page. Null for an empty page.",
    v.nullable(v.string()),
  ),
  more: described(
    "Whether there is more. A page may have fewer entries than `limit`, even none, while this is true.",
    v.boolean(),
  ),
});

/** The result of a restoration, or of its dry run. */
export function restored(product: v.GenericSchema) {
  return v.object({
    product: described("The product, as it is now.", product),
    ...CHANGES,
    skipped: described(
      "What was left out: pointers to the references of the version whose records are gone, and ONIX references that another product has by now.",
      v.array(v.string()),
    ),
  });
}

/** The author of a version, as stored. */
export interface VersionAuthor {
  changed_by: string | null;
  /** The present name of the API key. */
  name: string | null;
  operation: string | null;
}

/** Returns the author of a version as histories show it. */
export function changedBy({ changed_by, name, operation }: VersionAuthor) {
  const [, kind, id] = /^(api_key|user):(.*)$/s.exec(changed_by ?? "") ?? [];
  return kind ? { kind, id: id!, name } : {
    kind: operation === null ? "database" : "command",
    id: null,
    name: null,
  };
}
