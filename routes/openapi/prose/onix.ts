import { PARAGRAPH, type Prose, text } from "./text.ts";

/** The prose of the operations of ONIX, Readiness. */
export const ONIX = {
  listOnixRecords: {
    tag: "ONIX",
    summary: "Follow the changes of products in ONIX",
    description: text(
      "The feed of `/products/changes` as ONIX messages, each of them complete and valid.",
      "The first request omits `after` and gets every product.",
      'Each next request is the URL in the header `Link` (`rel="next"`), which every response has and which keeps the other parameters.',
      "A deleted product is a record with `NotificationType` 05.",
      "A message without changes has `NoProduct`: ask again later.",
    ),
    returns: "A message with the records.",
  },
  importOnix: {
    tag: "ONIX",
    summary: "Import an ONIX message",
    description: text(
      "Reads a message of ONIX for Books 3.0 or 3.1, with reference names or short tags, as it arrives, and writes its records in groups of a hundred.",
      "A record finds its product by its `RecordReference`, then by an earlier reference of the product, then by ISBN, in 10 or 13 digits.",
      "If none is found, it creates a product.",
      "A record with `NotificationType` 01, 02 or 03 sets the fields that ONIX has, and no others.",
      "The service compares it with the last record of the same sender (`SenderName`).",
      "What the sender has not changed stays as it is in the product, so your edits outlive the next file.",
      "What the sender has changed is written.",
      "If you have edited the same field, `edits` decides, and a message names both values (`edit_overwritten`, `edit_kept`).",
      "A message that was sent before the last one of its sender is not applied (`stale`).",
      "A time more than a day ahead is ignored for this (`future_date`).",
      "04 replaces the blocks that it has, 05 deletes the product, and 88 and 89 are tests.",
      "The same record writes nothing the second time, so a message can be sent again after a failure.",
      PARAGRAPH,
      "Publishers, imprints, collections, contributors and formats are linked by name (contributors by ORCID or ISNI first), and created if they are missing.",
      "An ORCID or ISNI is not used if the record that has it shares no word with the name in the message (`identifier_of_another`).",
      "Elements without a field are kept in the record and sent out with it: `unmapped` lists them.",
      PARAGRAPH,
      "A record that is invalid, or larger than 512 KiB, is rejected by itself.",
      "A message that is not well-formed responds with 400.",
      "The records before the fault stay written, and `report` lists them.",
      "The same holds for 401, if the credentials end while the message arrives.",
      "With `Accept: application/xml`, the response is an ONIX Acknowledgement 3.0 with the same content.",
    ),
    returns: "The outcome of the records, also if some were rejected.",
  },
  getOnixRecord: {
    tag: "ONIX",
    summary: "Get a product in ONIX",
    description: text(
      "The record last received, changed where the product has changed since, or written from the product alone.",
      "The message is valid by EDItEUR's schema of the release.",
    ),
    returns: "A message with the record of the product.",
  },
  listRecipientProfiles: {
    tag: "Readiness",
    summary: "List the recipients whose rules are known",
    description: text(
      "A profile has the rules for ONIX that a recipient's public page (`source`) had on a day (`as_of`).",
      "It promises no acceptance.",
    ),
    returns: "The profiles, each with the number of its rules.",
  },
  getRecipientProfile: {
    tag: "Readiness",
    summary: "Get the rules of a recipient",
    description: "The rules of one profile, required ones first.",
    returns: "The profile with its rules.",
  },
  listReadiness: {
    tag: "Readiness",
    summary: "List products by their readiness for a recipient",
    description: text(
      "The products in the order of their ids, each with what it lacks.",
      "`ready=false` lists only those that the recipient may refuse.",
      "A page checks at most 500 products, so it may have fewer than `limit`, even none, while `meta.more` is true.",
      "`meta.checked` counts each product once over all pages.",
      "A product lists at most 100 places.",
      "A product whose message cannot be written lists the rule `internal_error`, and is not sent.",
    ),
    returns: text(
      "The page.",
      "`meta` has its cursor, and counts the products that it has checked.",
    ),
  },
  getProductReadiness: {
    tag: "Readiness",
    summary: "Ask whether a recipient will take a product",
    description: text(
      "Checks the message that `GET /onix/products/{id}` would send in the release of the profile, header included.",
      "A placeholder that the service adds only to satisfy the schema, such as `ProductForm` 00 or the organization as supplier, counts as missing.",
      "Nothing is stored.",
    ),
    returns: "What the product lacks, with the place to correct.",
  },
} satisfies Record<string, Prose>;
