import { Buffer } from "node:buffer";
import * as v from "valibot";
import { Include } from "../../schema/list_query.ts";
import { limit } from "../../schema/parameters.ts";
import { described, UUID_PATTERN } from "../../schema/values.ts";
import { Recipient } from "../../schema/view.ts";

/* The cursor of the feed of changes, and the parameters of `GET /products/changes`. */

/** The position of a client in the feed of changes. */
export interface Cursor {
  /** The id of the version sequence. Versions of different origins are not comparable. */
  origin: string;
  /** The version and product id of the last change that the client received. */
  version: string;
  id: string;
  /** The version at which the client started. Earlier deletions are not listed. */
  start: string;
  /** In milliseconds since 1970. */
  issuedAt: number;
  organization: string;
  /**
   * The timeline of the server's WAL at the time of issue, since a failover may lose
   * the listed changes. 0 if none can.
   */
  timeline: number;
  /** The recipient of whose feed it is. Absent for the feed of all products. */
  recipient?: string | undefined;
}

const CURSOR_TEXT = new RegExp(
  `^(?<origin>${UUID_PATTERN}) (?<version>\\d{1,18}) (?<id>${UUID_PATTERN}) (?<start>\\d{1,18}) (?<issuedAt>\\d{13}) (?<organization>${UUID_PATTERN}) (?<timeline>\\d{1,10})(?: (?<recipient>${UUID_PATTERN}))?$`,
);

/** Whether a read counts as a fetch by the recipient: it has the recipient's key, or a cursor. */
export function countsAsFetch(
  caller: { recipient?: string | undefined },
  query: { after?: Cursor | undefined },
): boolean {
  return caller.recipient !== undefined || query.after !== undefined;
}

/** The cursor as text, as clients see it (base64url, RFC 4648). */
export function cursorText(
  { origin, version, id, start, issuedAt, organization, timeline, recipient }: Cursor,
) {
  const parts = [origin, version, id, start, issuedAt, organization, timeline];
  if (recipient) parts.push(recipient);
  return Buffer.from(parts.join(" ")).toString("base64url");
}

export const After = v.pipe(
  v.string("invalid_type: Expected a cursor as a string"),
  v.transform((text) => {
    const bytes = Buffer.from(text, "base64url");
    // Buffer skips characters that are not base64url. Padding is optional.
    return bytes.toString("base64url") === text.replace(/={1,2}$/, "")
      ? CURSOR_TEXT.exec(bytes.toString("latin1"))
      : null;
  }),
  v.check(
    (match) => match !== null,
    "invalid_cursor: Expected a cursor as `meta.cursor` gave it",
  ),
  v.transform((match): Cursor => {
    const { issuedAt, timeline, recipient, ...others } = match!.groups!;
    return {
      ...others,
      ...recipient !== undefined && { recipient },
      issuedAt: Number(issuedAt),
      timeline: Number(timeline),
    } as Cursor;
  }),
);

/** The parameters of `GET /products/changes`. */
export const ChangesParameters = v.object({
  after: described(
    "The `meta.cursor` of the last response. Without it, the feed starts with every product.",
    v.optional(After),
  ),
  limit: described(
    "The size of a page. A limit above 1000 counts as 1000.",
    v.optional(limit(1_000), "100"),
  ),
  include: Include,
  recipient: Recipient,
});

export type ChangesQuery = v.InferOutput<typeof ChangesParameters>;
