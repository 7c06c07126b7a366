import { PARAGRAPH, type Prose, text } from "./text.ts";

/** The prose of the operations of History. */
export const HISTORY = {
  listProductHistory: {
    tag: "History",
    summary: "Follow the history of a product",
    description: text(
      "Who changed what in a product, newest first, also for a deleted one.",
      "Every way to write makes entries.",
      "A change made by SQL outside the service gets its entry at the next read or write of the product, and several such changes may share one.",
      "Changes are those of the fields that `PUT` and the paths of rights and supply take.",
      "Entries of an array are matched by their ids, or else by content and keys.",
      "An entry without such a change is not shown, and a rename of a publisher is no change of its products.",
      "A page ends after some megabytes of versions or changes, so it may have fewer entries than `limit`, even none, while `more` is true.",
    ),
    returns: text(
      "The entries.",
      "`meta` contains the cursor of the next page.",
    ),
  },
  restoreProduct: {
    tag: "History",
    summary: "Restore a product",
    description: text(
      "Writes the state of a version, or of a time, as a new change: every field and array, or only `fields`.",
      "Rows get their old ids.",
      "A deleted product needs neither, nor a body: it gets the state before its deletion, with its id, code, time of creation and ONIX reference.",
      "The product form belongs to the format, and publishing programs have a list of their own: both stay as they are.",
      "References to records that no longer exist are errors.",
      "With `skip_missing` they are left out and named.",
      "A product that is already in that state is not written.",
      "An ONIX reference that another product has now stays there, and is named in `skipped`; a product code is an error.",
      "An ONIX import treats restored values as edits.",
    ),
    returns: "The product, what changed, and what was left out.",
  },
  compareVersions: {
    tag: "History",
    summary: "Compare two versions",
    description:
      "The changes from one version of a product to another, or to the present one, as entries of the history show them.",
    returns: "The changes.",
  },
  undoRequest: {
    tag: "History",
    summary: "Undo a request",
    description: text(
      "Reverts what a request, or the run of a command, did to products: a wrong sheet, message or batch.",
      "Each field that the request changed goes back to its value before, if it still has the value of the request.",
      "A field that was changed later stays, and the report says so (`changed_since`), with who changed it and when if the last 20 versions show it.",
      "An array is one field.",
      "A product form that the request gave to a format stays, because other products share it, and the report says so (`shared`).",
      "Products that the request created are deleted, those that it deleted are restored.",
      "A product that cannot be restored is refused with the errors of its restore; the others are undone.",
      PARAGRAPH,
      "The undo runs like an import, a hundred products per transaction.",
      "If it ends early, the same call completes it.",
      "It is a change like any other, with its own request id, so it can be undone as well.",
      "Requests with the same `X-Request-Id` of a client are undone together.",
    ),
    returns: "The outcome of the products, also if some were refused.",
  },
  listHistory: {
    tag: "History",
    summary: "Follow the history of all products",
    description: text(
      "The entries of all products of the organization, newest first, without what changed.",
      "For each page, `changed_by` and `operation` look at 10,000 versions at most, so it may be empty while `more` is true.",
    ),
    returns: text(
      "The entries.",
      "`meta` contains the cursor of the next page.",
    ),
  },
  listDeletedProducts: {
    tag: "History",
    summary: "List deleted products",
    description: "The deleted products that can be restored, last deleted first.",
    returns: text(
      "The products.",
      "`meta` contains the cursor of the next page.",
    ),
  },
} satisfies Record<string, Prose>;
