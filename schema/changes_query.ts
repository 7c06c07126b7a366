import { Buffer } from "node:buffer";
import * as v from "valibot";
import { Include } from "./list_query.ts";
import { wholeNumber } from "./parameters.ts";

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
  `^(${UUID}) (\\d{1,18}) (${UUID}) (\\d{1,18}) (\\d{13})(?: (${UUID}))?$`,
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
    const [, origin, version, id, start, issuedAt, organization] = match!;
    return {
      origin: origin!,
      version: version!,
      id: id!,
      start: start!,
      issuedAt: Number(issuedAt),
      organization,
    };
  }),
);

/** The parameters of `GET /products/changes`. */
export const ChangesParameters = v.object({
  after: v.optional(After),
  limit: v.optional(
    v.pipe(wholeNumber(), v.transform((limit) => Math.min(limit, 1_000))),
    "100",
  ),
  include: Include,
});

export type ChangesQuery = v.InferOutput<typeof ChangesParameters>;
