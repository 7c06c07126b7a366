import { type Prose, text } from "./text.ts";

/** The prose of the operations of References, Code lists, Organization. */
export const RECORDS = {
  "list{Records}": {
    tag: "References",
    summary: "List {plural}",
    description: text(
      "A page, ordered by name by default.",
      "A page past the end is empty.",
    ),
    returns: text(
      "The page.",
      "`meta` contains its number and the totals.",
    ),
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
    description: text(
      "Changes only the fields in the body.",
      "Null clears a field.",
      "Later responses with products show the change.",
    ),
    returns: "The stored {record}.",
  },
  "delete{Record}": {
    tag: "References",
    summary: "Delete {a record}",
    description: text(
      "Fails with 409 while products refer to the record; `details` has their number.",
      "`deleted` is false if the record does not exist.",
    ),
    returns: "The requested id, and whether a record was deleted.",
  },
  listProgramProducts: {
    tag: "References",
    summary: "List the products of a publishing program",
    description: "A page of ids and titles, ordered by title.",
    returns: text(
      "The page.",
      "`meta` contains its number and the totals.",
    ),
  },
  addProgramProduct: {
    tag: "References",
    summary: "Add a product to a publishing program",
    description: text(
      "Adding a product twice has no effect.",
      "A product in a program cannot be deleted.",
    ),
    returns: "The product is in the program.",
  },
  removeProgramProduct: {
    tag: "References",
    summary: "Remove a product from a publishing program",
    description: text(
      "Removing a product that is not in the program has no effect.",
      "The product itself is kept.",
    ),
    returns: "The product is not in the program.",
  },
  "list{Codes}": {
    tag: "Code lists",
    summary: "List {plural}",
    description: text(
      "A page, ordered by code.",
      "A page past the end is empty.",
    ),
    returns: text(
      "The page.",
      "`meta` contains its number and the totals.",
    ),
  },
  "get{Code}": {
    tag: "Code lists",
    summary: "Get {a record}",
    description: text(
      "Gets one {record}.",
      "Its id is the same in every installation.",
    ),
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
    description: "The full list, without pages, ordered by code.",
    returns: "All codes of the list, with their labels.",
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
    description: text(
      "Changes only the fields in the body.",
      "Null clears a field, `[]` the identifiers.",
      "The next ONIX message contains the change.",
    ),
    returns: "The stored organization.",
  },
} satisfies Record<string, Prose>;
