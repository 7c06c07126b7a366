import {
  isShared,
  nounOf,
  OWN_TABLES,
  pathOfTable,
  RECORDS,
  type RecordTable,
  SHARED_TABLES,
} from "../records.ts";
import type { Operation } from "./operation.ts";

/** The operations on the products of a publishing program. */
const PROGRAMS: Record<string, Operation> = {
  "GET /publishing-programs/{id}/products": {
    operationId: "listProgramProducts",
    summary: "List the products of a publishing program",
    description: "A page of ids and titles, by title.",
    tag: "References",
    query: ["page", "limit"],
    returns: "The page. `meta` has its number and the totals.",
    answer: "ProgramProductsAnswer",
    headers: ["Link"],
  },
  "PUT /publishing-programs/{id}/products/{product_id}": {
    operationId: "addProgramProduct",
    summary: "Add a product to a publishing program",
    description:
      "A product that is in the program already stays in it. A product in a program cannot be deleted.",
    tag: "References",
    status: 204,
    returns: "The product is in the program.",
  },
  "DELETE /publishing-programs/{id}/products/{product_id}": {
    operationId: "removeProgramProduct",
    summary: "Take a product out of a publishing program",
    tag: "References",
    status: 204,
    returns: "The product is not in the program.",
  },
};

/** The operations on the ONIX lists that fields are checked against. */
const CODE_LISTS: Record<string, Operation> = {
  "GET /code-lists": {
    operationId: "listCodeLists",
    summary: "List the ONIX code lists",
    description: "The lists that the codes in fields are checked against.",
    tag: "Code lists",
    returns: "Their numbers, and how many codes each has.",
    answer: "CodeListsAnswer",
  },
  "GET /code-lists/{number}": {
    operationId: "getCodeList",
    summary: "Get an ONIX code list",
    tag: "Code lists",
    returns: "All codes of the list, with their labels.",
    answer: "OnixCodesAnswer",
  },
};

/** The operations on the records that products refer to. */
export const RECORD_OPERATIONS: Record<string, Operation> = Object.assign(
  {},
  ...OWN_TABLES.map(recordOperations),
  PROGRAMS,
  ...SHARED_TABLES.map(recordOperations),
  CODE_LISTS,
);

function recordOperations(table: RecordTable): Record<string, Operation> {
  const { type } = RECORDS[table];
  const path = pathOfTable(table);
  const noun = nounOf(table);
  const one = /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
  const tag = isShared(table) ? "Code lists" : "References";
  const list: Operation = {
    operationId: `list${pascal(table)}`,
    summary: `List ${table.replaceAll("_", " ")}`,
    description: "All of them, by code.",
    tag,
    query: ["code"],
    returns: "All of them, or the one with the code.",
    answer: `${type}RecordsAnswer`,
  };
  const get: Operation = {
    operationId: `get${type}`,
    summary: `Get ${one}`,
    tag,
    requestHeaders: ["If-None-Match"],
    returns: `The ${noun}.`,
    answer: `${type}RecordAnswer`,
  };
  if (isShared(table)) {
    return { [`GET ${path}`]: list, [`GET ${path}/{id}`]: get };
  }
  const { type: own } = RECORDS[table];
  return {
    [`GET ${path}`]: {
      ...list,
      description: "A page, by name by default. A page past the end is empty.",
      query: ["page", "limit", "search", "name", "sort"],
      returns: "The page. `meta` has its number and the totals.",
      headers: ["Link"],
    },
    [`POST ${path}`]: {
      operationId: `create${own}`,
      summary: `Create ${one}`,
      description: "Two may have the same name.",
      tag,
      requestHeaders: ["Idempotency-Key"],
      body: `Create${own}`,
      status: 201,
      returns: `The stored ${noun}.`,
      answer: `${own}RecordAnswer`,
      headers: ["Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"],
    },
    [`GET ${path}/{id}`]: {
      ...get,
      returns: `The ${noun}, and how many products refer to it.`,
    },
    [`PUT ${path}/{id}`]: {
      operationId: `update${own}`,
      summary: `Update ${one}`,
      description:
        "Changes the fields of the body and no others. Null clears a field. The next answer to a product shows the change.",
      tag,
      requestHeaders: ["If-Match"],
      body: `Update${own}`,
      returns: `The stored ${noun}.`,
      answer: `${own}RecordAnswer`,
      headers: ["ETag", "Ignored-Fields"],
    },
    [`DELETE ${path}/{id}`]: {
      operationId: `delete${own}`,
      summary: `Delete ${one}`,
      description:
        "Refused while products refer to it: `details` says how many. `deleted` is false if it does not exist.",
      tag,
      requestHeaders: ["If-Match"],
      returns: "The requested id, and whether a record was deleted.",
      answer: "DeletedAnswer",
      errors: ["CONFLICT"],
    },
  };
}

function pascal(table: string): string {
  return table.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
}
