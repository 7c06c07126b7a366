/*
 * The prose of the OpenAPI document. What an operation takes and returns stands in the
 * table of operations.
 */

/** The groups of operations, with their descriptions. */
export const OPENAPI_TAGS = {
  "Products": "The books of the organization.",
  "Rights and supply":
    "The territories, sales rights, suppliers and prices of a product (ONIX blocks 4 and 6).",
  "History":
    "Who changed what, and the products as they were, for those who may write. Versions are kept for `HISTORY_DAYS`, at most 1,000 of a product, those of deleted products for at least 37 days.",
  "ONIX":
    "The same products as messages in ONIX for Books 3.0 and 3.1: read, followed and written as in JSON.",
  "Sheets":
    "The same products as a sheet for spreadsheet programs, in CSV: out, and changed in again.",
  "Readiness":
    "Which books a recipient may refuse, and what they lack: judged by the ONIX message that would be sent, now, by the recipient's public rules.",
  "References": "The organization's records that products refer to. All have the same operations.",
  "Code lists": "The ids and codes shared by all organizations.",
  "Webhooks":
    "Messages about changes of products to a URL of yours, signed as Standard Webhooks 1.0.0 says. A webhook follows `/products/changes`: it misses no change, however it was made.",
  "Organization": "The organization itself: its name, and what ONIX messages say of their sender.",
  "API keys":
    "The keys of the organization. These operations need the Bearer token of an `admin` or `owner`.",
  "Service": "The service itself.",
};

export interface Prose {
  tag: keyof typeof OPENAPI_TAGS;
  summary: string;
  description: string;
  returns: string;
}

/** The prose of each operation. `forTable` of `tables.ts` replaces the words in braces. */
export const PROSE = {
  listProducts: {
    tag: "Products",
    summary: "List products",
    description:
      "A page of the organization's products, newest first by default. Filters combine with AND. A page past the end is empty. Reading page after page can skip or repeat products that are written meanwhile. `GET /products/changes` skips none.",
    returns: "The page. `meta` contains its number and the totals.",
  },
  createProduct: {
    tag: "Products",
    summary: "Create a product",
    description:
      "Creates a product with its nested records. Response-only fields are ignored, so that clients can send a response back.",
    returns: "The stored product.",
  },
  listChanges: {
    tag: "Products",
    summary: "Follow the changes of products",
    description:
      "Synchronizes a copy of the products. The first request omits `after` and gets every product. Each next request sends `meta.cursor` as `after`: immediately while `meta.more` is true, else later. Every change arrives at least once, including deletions. A product that changed several times may arrive once, in its last state. Every update of `updated_at` is a change. So is a change of what the product shows of a referenced record, such as another name of its publisher, with the `updated_at` that the product has: it follows within a minute if more than 10,000 products show it. A change appears after all older transactions of the database server have ended, so a long transaction delays the feed. A page can have fewer changes than `limit`, even none, while `meta.more` is true.",
    returns: "The changes. `meta` contains the cursor of the next page.",
  },
  exportSheet: {
    tag: "Sheets",
    summary: "Get the catalogue as a sheet",
    description:
      "Every product that the filters of `GET /products` let through, without pages, as CSV (RFC 4180) in UTF-8 with a byte order mark. A column is a place in the JSON of a product: a field by its name (`title`), an entry of an array by its key in brackets (`product_prices[GBP].retail_price`, `collateral[03].text`, `custom_fields[Shelf].field_value`) or by its position from 1 (`contributors[2].contributor_name`). `contributors`, `product_collections` and `subjects` also fit into one cell, with semicolons between entries. An ISBN has one hyphen, and a text that a spreadsheet program would take for a formula an apostrophe before it. A text over 32,767 characters is `#too_long`.",
    returns: "The sheet.",
  },
  importSheet: {
    tag: "Sheets",
    summary: "Import a sheet",
    description:
      "Sets the places that the columns name, and nothing else. A row finds its product by the first of `id`, `product_code`, `isbn13` and `isbn10` that it has. A cell that an export would write changes nothing, so a sheet that comes back as it was writes nothing. Header, bytes, quotes and amounts are read through first: a fault there is 400, and nothing is written. Rows are then written by the hundred, each by itself. At most 1,048,576 rows, as spreadsheet programs have, of 512 KiB and 1,000 columns. With `Accept: text/csv` the response has the rows that were refused or stale, with a first column `error`, to be mended and sent again.",
    returns: "What became of the rows, also if some were refused.",
  },
  listOnixRecords: {
    tag: "ONIX",
    summary: "Follow the changes of products in ONIX",
    description:
      'The feed of `/products/changes` as ONIX messages, each of them whole and valid. The first request omits `after` and gets every product. Each next request is the URL in the header `Link` (`rel="next"`), which is always there and keeps the other parameters. A deleted product is a record with `NotificationType` 05. A message without news has `NoProduct`: ask again later.',
    returns: "A message with the records.",
  },
  importOnix: {
    tag: "ONIX",
    summary: "Import an ONIX message",
    description:
      "Reads a message of ONIX for Books 3.0 or 3.1, with reference names or short tags, as it arrives, and writes its records by the hundred. A record finds its product by `RecordReference`, then by one that a record of it had before, then by ISBN, in 10 or 13 digits; else it creates a product. With `NotificationType` 01, 02 or 03 a record speaks for what ONIX says, and touches nothing else. What its sender (`SenderName`) has left as it was in its own last record stays as it is here, so what was edited here outlives the next file. What the sender has changed is written; where it was edited here as well, `edits` decides, and a message names both values (`edit_overwritten`, `edit_kept`). A message that was sent before the last one of its sender is not applied (`stale`); a time more than a day ahead guards nothing (`future_date`). 04 replaces the blocks that it has, 05 deletes, 88 and 89 are tests. The same record twice writes nothing the second time, so a message can be sent again after a failure.\n\nPublishers, imprints, collections, contributors and formats are linked by name (contributors by ORCID or ISNI first), and created where they are missing. An identifier of somebody whose name shares no word with the name beside it identifies nobody (`identifier_of_another`). What no field holds is kept in the record, and goes out with it: `unmapped` lists it.\n\nA record at fault, or with more than 512 KiB, is rejected by itself. A message that is not well-formed responds with 400; the records before the fault stay written, and `report` lists them. So it is with 401 for the rest of a message whose credentials end while it arrives. With `Accept: application/xml`, the response is an ONIX Acknowledgement 3.0 that says the same.",
    returns: "What became of the records, also if some were rejected.",
  },
  getOnixRecord: {
    tag: "ONIX",
    summary: "Get a product in ONIX",
    description:
      "The record last received, changed where the product has changed since, or written from the product alone. The message is valid by EDItEUR's schema of the release.",
    returns: "A message with the record of the product.",
  },
  listRecipientProfiles: {
    tag: "Readiness",
    summary: "List the recipients whose rules are known",
    description:
      "A profile is what a recipient's public page (`source`) asked of ONIX on a day (`as_of`). It promises no acceptance.",
    returns: "The profiles, each with the number of its rules.",
  },
  getRecipientProfile: {
    tag: "Readiness",
    summary: "Get the rules of a recipient",
    description: "The rules of one profile, those that are required first.",
    returns: "The profile with its rules.",
  },
  listReadiness: {
    tag: "Readiness",
    summary: "List products by their readiness for a recipient",
    description:
      "The products in the order of their ids, each with what it lacks. `ready=false` lists only those that may be refused. A page looks at 500 products at most, so it may have fewer than `limit`, even none, while `meta.more` is true. Added up over all pages, `meta.checked` counts each product once. A product lists at most 100 places. One whose message the service fails to write lists the rule `internal_error`, and does not go out.",
    returns: "The page. `meta` has its cursor, and counts the products that it looked at.",
  },
  getProductReadiness: {
    tag: "Readiness",
    summary: "Ask whether a recipient will take a product",
    description:
      "Judges the message that `GET /onix/products/{id}` would send in the release of the profile, with its header. What the service writes only because the schema demands it, such as `ProductForm` 00 or the organization as supplier, is missing. Nothing is stored.",
    returns: "What the product lacks, with the place to mend it.",
  },
  writeProducts: {
    tag: "Products",
    summary: "Write many products",
    description:
      "Executes up to 100 operations in one transaction. The response has the status and the `data` or `error` of each operation, in their order, as a single request would get them. Operations on the same product run in their order. An operation that fails does not affect the others. If the batch is `atomic`, a failed operation fails the whole batch: nothing is written, and the response is that error, with pointers below `/operations/{n}`. If the service or the database fails, nothing is written.\n\nAn upsert compares the field named by `match` with the value in its body. It updates the product with the same value, or creates one if there is none. An ISBN-10 and its ISBN-13 are one number, whichever is matched and whichever is stored. If several products have it, the operation fails with `AMBIGUOUS`, whose message has their ids. Its body says what is: each array in it is whole. A price without an id is the stored one with the same `currency_code` and `valid_from`, a packing configuration the one with the same `unit_of_measure`, and rows without an entry are deleted. An upsert that changes nothing responds with 200, and moves neither `updated_at` nor the feed. Concurrent upserts of the same value create one product. The service assigns product codes, so an upsert by `product_code` never creates: it updates, or fails with `NOT_FOUND`.\n\nIf `return` is `minimal`, the response contains only the ids of the products. A batch whose response would be larger than 16 MiB, or with an `Idempotency-Key` larger than 1 MiB, fails as a whole (`too_large`).\n\nThe products of the results are read after the transaction: a result shows its product as it is then, after later operations and perhaps a later change by another client. Of a product that is deleted by then, it has the id alone. With an `Idempotency-Key` they are read within the transaction.",
    returns: "The result of each operation, in their order.",
  },
  getProduct: {
    tag: "Products",
    summary: "Get a product",
    description:
      "Gets a product with its nested arrays, territories and sales rights. With `If-None-Match`, the response is 304 while the copy is current.\n\nWith `version` or `at`, the product as it was shown then, with the names of then and without an `ETag`, for those who may write: 404 where there was none, 410 `HISTORY_EXPIRED` where that is older than what is kept.",
    returns: "The product with its nested records.",
  },
  listProductHistory: {
    tag: "History",
    summary: "Follow the history of a product",
    description:
      "Who changed what of a product, newest first, also of a deleted one. Every way to write is here, SQL beside the service too: that is seen at the next read or write of the product, and several such changes may be one entry. Changes are those of what `PUT` and the paths of rights and supply take. Entries of an array are told apart by their ids, else by what they are about. An entry that changed nothing of this is not shown, and a rename of a publisher is no change of its products.",
    returns: "The entries. `meta` contains the cursor of the next page.",
  },
  restoreProduct: {
    tag: "History",
    summary: "Restore a product",
    description:
      "Writes the state of a version, or of a time, as a new change: every field and array, whole, rows with their ids. Without either, a deleted product gets the state before its deletion, with its id, code, time of creation and ONIX reference. The product form belongs to the format, and publishing programs have a list of their own: both stay as they are. References to records that are gone are errors, or with `skip_missing` left out and named. A product that is so already is not written. A reference or a product code that another product has by now stays there. For ONIX, what is restored was edited here.",
    returns: "The product, what changed, and what was left out.",
  },
  listHistory: {
    tag: "History",
    summary: "Follow the history of all products",
    description:
      "The entries of all products of the organization, newest first, without what changed.",
    returns: "The entries. `meta` contains the cursor of the next page.",
  },
  listDeletedProducts: {
    tag: "History",
    summary: "List deleted products",
    description: "The products that are deleted and can be restored, the last one first.",
    returns: "The products. `meta` contains the cursor of the next page.",
  },
  updateProduct: {
    tag: "Products",
    summary: "Update a product",
    description:
      "Changes only the fields in the body. Null clears a field. A price or packing configuration with an `id` changes that row, one without an `id` creates a row, and an empty array deletes all rows. An array of collateral, contributors, collections or custom fields replaces the stored rows; collateral with an `id` keeps that row.",
    returns: "The stored product.",
  },
  deleteProduct: {
    tag: "Products",
    summary: "Delete a product",
    description:
      "Deletes a product with its nested records. `deleted` is false if the product does not exist.",
    returns: "The requested id, and whether a product was deleted.",
  },
  getTerritories: {
    tag: "Rights and supply",
    summary: "Get the territories of a product",
    description:
      "Gets the whole tree of territories, markets, suppliers and prices (ONIX block 6).",
    returns: "The territories with their markets and supply. The ETag is the product's.",
  },
  replaceTerritories: {
    tag: "Rights and supply",
    summary: "Replace the territories of a product",
    description:
      "Replaces the whole tree (ONIX block 6); `[]` deletes it. An entry with an `id` keeps that row's id, an entry without one gets a new id. Labels are ignored, so that clients can send a response back. An array has at most 500 entries, all arrays together 20,000.",
    returns: "The full stored product.",
  },
  getSalesRights: {
    tag: "Rights and supply",
    summary: "Get the sales rights of a product",
    description: "Gets all sales rights, in their order (ONIX block 4).",
    returns: "The sales rights. The ETag is the product's.",
  },
  replaceSalesRights: {
    tag: "Rights and supply",
    summary: "Replace the sales rights of a product",
    description:
      "Replaces all sales rights (ONIX block 4); `[]` deletes them. A right either has a territory or covers the rest of the world. An entry with an `id` keeps that row's id. Labels, `for_sale` and `exclusive` are ignored, so that clients can send a response back. At most 500 entries.",
    returns: "The full stored product.",
  },
  "list{Records}": {
    tag: "References",
    summary: "List {plural}",
    description: "A page, ordered by name by default. A page past the end is empty.",
    returns: "The page. `meta` contains its number and the totals.",
  },
  "create{Record}": {
    tag: "References",
    summary: "Create {a record}",
    description: "Names need not be unique.",
    returns: "The stored {record}.",
  },
  "get{Record}": {
    tag: "References",
    summary: "Get {a record}",
    description: "Gets one {record}, and how many products refer to it.",
    returns: "The {record}, and the number of products that refer to it.",
  },
  "update{Record}": {
    tag: "References",
    summary: "Update {a record}",
    description:
      "Changes only the fields in the body. Null clears a field. Later responses with products show the change.",
    returns: "The stored {record}.",
  },
  "delete{Record}": {
    tag: "References",
    summary: "Delete {a record}",
    description:
      "Fails with 409 while products refer to the record; `details` has their number. `deleted` is false if the record does not exist.",
    returns: "The requested id, and whether a record was deleted.",
  },
  listProgramProducts: {
    tag: "References",
    summary: "List the products of a publishing program",
    description: "A page of ids and titles, ordered by title.",
    returns: "The page. `meta` contains its number and the totals.",
  },
  addProgramProduct: {
    tag: "References",
    summary: "Add a product to a publishing program",
    description: "Adding a product twice has no effect. A product in a program cannot be deleted.",
    returns: "The product is in the program.",
  },
  removeProgramProduct: {
    tag: "References",
    summary: "Remove a product from a publishing program",
    description:
      "Removing a product that is not in the program has no effect. The product itself is kept.",
    returns: "The product is not in the program.",
  },
  "list{Codes}": {
    tag: "Code lists",
    summary: "List {plural}",
    description: "A page, ordered by code. A page past the end is empty.",
    returns: "The page. `meta` contains its number and the totals.",
  },
  "get{Code}": {
    tag: "Code lists",
    summary: "Get {a record}",
    description: "Gets one {record}. Its id is the same in every installation.",
    returns: "The {record}.",
  },
  listCodeLists: {
    tag: "Code lists",
    summary: "List the ONIX code lists",
    description:
      "A page of the lists that codes in fields are validated against, ordered by number.",
    returns: "The page: the number and name of each list, and the number of its codes.",
  },
  getCodeList: {
    tag: "Code lists",
    summary: "Get an ONIX code list",
    description: "The whole list, without pages, ordered by code.",
    returns: "All codes of the list, with their labels.",
  },
  listWebhooks: {
    tag: "Webhooks",
    summary: "List webhooks",
    description:
      "All webhooks of the organization, oldest first. Keys that may only read, and viewers, do not see webhooks: a URL may hold a token.",
    returns: "The webhooks, without their secrets.",
  },
  createWebhook: {
    tag: "Webhooks",
    summary: "Create a webhook",
    description:
      "Sends messages about changes from now on, or from `after` on. An organization has at most 10 webhooks (409, `limit_reached`). The host of the URL must have a public address, or one that the operator allows; a name that does not resolve yet is accepted. A URL is checked here and before each attempt.",
    returns: "The webhook, and its secret this once.",
  },
  getWebhook: {
    tag: "Webhooks",
    summary: "Get a webhook",
    description: "Gets a webhook with its position in the feed and its recent failures.",
    returns: "The webhook.",
  },
  updateWebhook: {
    tag: "Webhooks",
    summary: "Update a webhook",
    description:
      "Changes only the fields in the body. `after` sets the webhook back, or forward: it sends every change after that position again, with the ids that the messages had. A new `url`, `enabled: true` and `after` end its pauses. What waited while a webhook was disabled is sent once it is enabled.",
    returns: "The webhook.",
  },
  deleteWebhook: {
    tag: "Webhooks",
    summary: "Delete a webhook",
    description: "Deletes a webhook with all that waits. `deleted` is false if it does not exist.",
    returns: "The requested id, and whether a webhook was deleted.",
  },
  rotateWebhookSecret: {
    tag: "Webhooks",
    summary: "Replace the secret of a webhook",
    description:
      "Makes a new secret. Until the grace is over, the older ones sign too, at most three in all, newest first: a receiver accepts a message if one of its signatures is right. A grace of 0 ends them at once. A rotation whose response was lost can be repeated.",
    returns: "The webhook, and its new secret this once.",
  },
  testWebhook: {
    tag: "Webhooks",
    summary: "Test a webhook",
    description:
      "Sends `webhook.test` now, even while the webhook is disabled. It is not stored. Its failure changes nothing; its success ends the pause after failures. Fails with 503 while too many messages are being sent.",
    returns: "The delivery, whatever came of it.",
  },
  listDeliveries: {
    tag: "Webhooks",
    summary: "List the deliveries of a webhook",
    description:
      "A page of messages, newest first: all that wait, the last 1,000 of 30 days that failed for good, and the last 100 that succeeded.",
    returns: "The page. `meta` contains its number and the totals.",
  },
  retryDelivery: {
    tag: "Webhooks",
    summary: "Send a message again",
    description:
      "Makes one attempt now. Fails with 409 while the message is being sent (`being_sent`), or if its product has changed since (`superseded`): the webhook gets a newer message then. Fails with 503 while too many messages are being sent.",
    returns: "The delivery after the attempt.",
  },
  getOrganization: {
    tag: "Organization",
    summary: "Get the organization",
    description: "The organization of the caller.",
    returns: "The organization.",
  },
  updateOrganization: {
    tag: "Organization",
    summary: "Update the organization",
    description:
      "Changes only the fields in the body. Null clears a field, `[]` the identifiers. The next ONIX message says it.",
    returns: "The stored organization.",
  },
  listApiKeys: {
    tag: "API keys",
    summary: "List API keys",
    description: "The keys of the organization, newest first, without their secrets.",
    returns: "A page of the keys, including revoked and expired ones.",
  },
  createApiKey: {
    tag: "API keys",
    summary: "Create an API key",
    description: "The response shows the key once: the service stores only its hash.",
    returns: "The key.",
  },
  getApiKey: {
    tag: "API keys",
    summary: "Get an API key",
    description: "The key is identified by the 12 characters after `cat_`.",
    returns: "The key without its secret.",
  },
  revokeApiKey: {
    tag: "API keys",
    summary: "Revoke an API key",
    description:
      "The key stops working within five seconds, or at the time `at`, which can be changed until then. A revoked key stays revoked.",
    returns: "The key. It stops working at `revoked_at`.",
  },
  getDescription: {
    tag: "Service",
    summary: "Get this description",
    description:
      "The OpenAPI document, for generators of clients and for tools. It needs no credentials.",
    returns: "This description of the API (OpenAPI 3.1).",
  },
  getLiveness: {
    tag: "Service",
    summary: "Check liveness",
    description:
      "Responds as long as the process runs, even without a database. A supervisor restarts a process that does not respond. Also at `/health/live` outside the prefix.",
    returns: "The service is running.",
  },
  getReadiness: {
    tag: "Service",
    summary: "Check readiness",
    description:
      "Responds with 200 if requests can be served, and with 503 otherwise. A load balancer then sends requests elsewhere. Also at `/health/ready` outside the prefix.",
    returns: "The service accepts requests and the database responds.",
  },
} satisfies Record<string, Prose>;

/** The `operationId` of an operation. */
export type OperationId = keyof typeof PROSE;
