/*
 * The sizes that bound what the service stores, reads at once and holds in memory, in bytes.
 * `createShares` of `routes/handler.ts` has the memory that all requests share.
 */

const KIB = 2 ** 10;
const MIB = 2 ** 20;

// Stored.

/** The JSON of a product. The constraint `product_documents_size` has the same. */
export const MAX_PRODUCT_BYTES = 4 * MIB;

/** The JSON of all old versions of a product. */
export const MAX_VERSIONS_BYTES = 64 * MIB;

/** The response to a request with an `Idempotency-Key`, which is stored for repetitions. */
export const MAX_RESULT_BYTES = MIB;

/** All such responses of an organization. */
export const MAX_RESULTS_BYTES = 64 * MIB;

// Read for a response.

/** A text that is read without reserved memory. Each connection reads at most one at a time. */
export const SHORT_BYTES = 128 * KIB;

/** All products in a response. */
export const MAX_RESPONSE_BYTES = 16 * MIB;

/** A page of the feed of changes. It ends at this size. */
export const FEED_PAGE_BYTES = 4 * MIB;

/** The versions that a page of the history reads at once. */
export const VERSIONS_BYTES = 8 * MIB;

/** A page of the history. It ends at this size. */
export const HISTORY_PAGE_BYTES = 2 * VERSIONS_BYTES;

/** Products that an export of a sheet reads at once, unless one has more. */
export const SHEET_PART_BYTES = MIB;

// Read and written in a transaction.

/** Products that a transaction reads at once. */
export const READ_BYTES = 8 * MIB;

/** A group of records or rows of an import, while it is written. */
export const IMPORT_GROUP_BYTES = 16 * MIB;

/** The versions that erasing a contributor reads at once. */
export const ERASED_BYTES = 32 * MIB;

/** The versions that retention deletes at once: PostgreSQL logs as much. */
export const RETENTION_BYTES = 8 * MIB;

// Bodies.

/** The part of a streamed body that is in memory. */
export const STREAMED_BODY_BYTES = 256 * KIB;

/** The least memory of a body, for the buffers of its stream (measured). */
export const MIN_BODY_BYTES = 192 * KIB;

/** A line of an NDJSON file: more than any record has. It bounds a file without line breaks. */
export const MAX_LINE_BYTES = 256 * MIB;
