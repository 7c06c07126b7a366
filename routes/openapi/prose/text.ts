/* The prose of the OpenAPI document, written a sentence a line. */

/** Ends a paragraph of a text. */
export const PARAGRAPH = "\n\n";

/** Joins sentences to a text. */
export function text(...sentences: string[]): string {
  return sentences.join(" ").replaceAll(` ${PARAGRAPH} `, PARAGRAPH);
}

/** The groups of operations, with their descriptions. */
export const OPENAPI_TAGS = {
  "Products": "The books of the organization.",
  "Rights and supply":
    "The territories, sales rights, suppliers and prices of a product (ONIX blocks 4 and 6).",
  "History": text(
    "Who changed what, and older versions of products, for callers that may write.",
    "Versions are kept for `HISTORY_DAYS`, up to 1,000 and 64 MiB per product, and for deleted products at least 37 days.",
  ),
  "ONIX":
    "The same products as messages in ONIX for Books 3.0 and 3.1, for reading, following and writing.",
  "Sheets":
    "The same products as a sheet for spreadsheet programs, as a workbook or in CSV: export it, edit it, and import it again.",
  "Readiness": text(
    "Which books a recipient may refuse, and what they lack.",
    "The service checks the ONIX message that it would send now against the recipient's public rules.",
  ),
  "Recipients": text(
    "A view for each recipient, such as a shop: the products that it sees, and what of each.",
    "Its keys (`POST /api-keys` with `recipient_id`) get the view in every read and in its feeds, which report a product that leaves.",
  ),
  "References": text(
    "The organization's records that products refer to.",
    "All have the same operations.",
  ),
  "Code lists": "The ids and codes shared by all organizations.",
  "Webhooks": text(
    "Messages about changes of products to a URL of yours, signed according to Standard Webhooks 1.0.0.",
    "A webhook follows `/products/changes`, so it misses no change, from any source.",
  ),
  "Organization": "The organization itself: its name, and its details as sender of ONIX messages.",
  "API keys": text(
    "The keys of the organization.",
    "These operations need the Bearer token of an `admin` or `owner`.",
  ),
  "Service": "The service itself.",
};

/** The prose of an operation. */
export interface Prose {
  tag: keyof typeof OPENAPI_TAGS;
  summary: string;
  description: string;
  returns: string;
}
