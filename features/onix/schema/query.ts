import * as v from "valibot";
import { After } from "../../changes/schema.ts";
import { EDITS, STALE } from "./merge/options.ts";
import { RELEASES, TAGS } from "./rules/releases.ts";
import { limit } from "../../../schema/parameters.ts";
import { described, oneOf, optionalFlag } from "../../../schema/values.ts";
import { Recipient } from "../../../schema/view.ts";

/* The parameters of the operations on ONIX. */

const FORM = {
  release: described(
    "The release of ONIX for Books.",
    v.optional(oneOf(...RELEASES), "3.1"),
  ),
  tags: described(
    "The names of the elements: reference names, or short tags.",
    v.optional(oneOf(...TAGS), "reference"),
  ),
  recipient: Recipient,
};

/** The parameters of `GET /onix/products/{id}`. */
export const OnixParameters = v.object(FORM);

export type OnixQuery = v.InferOutput<typeof OnixParameters>;

/** The parameters of `GET /onix/products`. */
export const OnixChangesParameters = v.object({
  after: described(
    "A cursor of this feed or of `/products/changes`. Without it, the feed starts with every product.",
    v.optional(After),
  ),
  limit: described(
    "The maximum number of records. A limit above 1000 counts as 1000.",
    v.optional(limit(1_000), "100"),
  ),
  ...FORM,
});

export type OnixChangesQuery = v.InferOutput<typeof OnixChangesParameters>;

/** The parameters of `POST /onix/products`. */
export const ImportParameters = v.object({
  dry_run: optionalFlag(
    "Whether to report on the message without writing anything.",
  ),
  edits: described(
    "What the import does with fields that you have edited. A field that the sender has not changed since its last record stays as it is. If both have changed a field, `keep` writes the record's value with the warning `edit_overwritten`, and `protect` keeps your value with the warning `edit_kept`. With `overwrite` all fields of the record are written, as in an empty catalogue.",
    v.optional(oneOf(...EDITS), "keep"),
  ),
  stale: described(
    "What the import does with records of a message that was sent (`SentDateTime`) before the last one of the same `SenderName` with the product: it skips them with the warning `stale`, or applies them.",
    v.optional(oneOf(...STALE), "skip"),
  ),
});

export type ImportQuery = v.InferOutput<typeof ImportParameters>;
