import { Buffer } from "node:buffer";
import * as v from "valibot";
import { Include } from "./list_query.ts";
import { limit } from "./parameters.ts";
import { described } from "./values.ts";

/** How far a follower has come. */
export interface Cursor {
  /** Where the versions come from: those of another origin say nothing here. */
  origin: string;
  /** The change that was given out last. */
  version: string;
  id: string;
  /** The version at which the follower began: deletions before it are no news. */
  start: string;
  /** In milliseconds since 1970. */
  issuedAt: number;
  /** Whose changes they are. Cursors of earlier releases do not say. */
  organization: string | undefined;
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const CURSOR = new RegExp(
  `^(?<origin>${UUID}) (?<version>\\d{1,18}) (?<id>${UUID}) (?<start>\\d{1,18}) (?<issuedAt>\\d{13})(?: (?<organization>${UUID}))?$`,
);

/** The cursor as clients keep it. */
export function cursorText(
  { origin, version, id, start, issuedAt, organization }: Cursor,
) {
  const parts = [origin, version, id, start, issuedAt, organization];
  return Buffer.from(parts.join(" ")).toString("base64url");
}

const After = v.pipe(
  v.string(),
  v.transform((text) =>
    CURSOR.exec(Buffer.from(text, "base64url").toString("latin1"))
  ),
  v.check(
    (match) => match !== null,
    "invalid_cursor: Expected a cursor as `meta.cursor` gave it",
  ),
  v.transform((match): Cursor => {
    const { issuedAt, ...others } = match!.groups!;
    return { ...others, issuedAt: Number(issuedAt) } as Cursor;
  }),
);

/** The parameters of `GET /products/changes`. */
export const ChangesParameters = v.object({
  after: described(
    "The `meta.cursor` of the last answer. Without it, every product comes.",
    v.optional(After),
  ),
  limit: described(
    "The size of a page. A higher limit than 1000 counts as 1000.",
    v.optional(limit(1_000), "100"),
  ),
  include: Include,
});

export type ChangesQuery = v.InferOutput<typeof ChangesParameters>;
