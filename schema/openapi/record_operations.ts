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
    description: "A page of ids and titles, ordered by title.",
    tag: "References",
    query: ["page", "limit"],
    returns: "The page. `meta` contains its number and the totals.",
    response: "ProgramProductsResponse",
    headers: ["Link"],
  },
  "PUT /publishing-programs/{id}/products/{product_id}": {
    operationId: "addProgramProduct",
    summary: "Add a product to a publishing program",
    description:
      "Adding a product twice has no effect. A product in a program cannot be deleted.",
    tag: "References",
    status: 204,
    returns: "The product is in the program.",
  },
  "DELETE /publishing-programs/{id}/products/{product_id}": {
    operationId: "removeProgramProduct",
    summary: "Remove a product from a publishing program",
    tag: "References",
    status: 204,
    returns: "The product is not in the program.",
  },
};

/** The operations on the ONIX lists that fields are validated against. */
const CODE_LISTS: Record<string, Operation> = {
  "GET /code-lists": {
    operationId: "listCodeLists",
    summary: "List the ONIX code lists",
    description: "The lists that codes in fields are validated against.",
    tag: "Code lists",
    returns: "The number of each list, and the number of its codes.",
    response: "CodeListsResponse",
  },
  "GET /code-lists/{number}": {
    operationId: "getCodeList",
    summary: "Get an ONIX code list",
    tag: "Code lists",
    returns: "All codes of the list, with their labels.",
    response: "OnixCodesResponse",
  },
};

/** The operations on records that products refer to. */
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
    description: "All records, ordered by code.",
    tag,
    query: ["code"],
    returns: "All records, or the record with the given code.",
    response: `${type}RecordsResponse`,
  };
  const get: Operation = {
    operationId: `get${type}`,
    summary: `Get ${one}`,
    tag,
    requestHeaders: ["If-None-Match"],
    returns: `The ${noun}.`,
    response: `${type}RecordResponse`,
  };
  if (isShared(table)) {
    return { [`GET ${path}`]: list, [`GET ${path}/{id}`]: get };
  }
  const { type: own } = RECORDS[table];
  return {
    [`GET ${path}`]: {
      ...list,
      description:
        "A page, ordered by name by default. A page past the end is empty.",
      query: ["page", "limit", "search", "name", "sort"],
      returns: "The page. `meta` contains its number and the totals.",
      headers: ["Link"],
    },
    [`POST ${path}`]: {
      operationId: `create${own}`,
      summary: `Create ${one}`,
      description: "Names need not be unique.",
      tag,
      requestHeaders: ["Idempotency-Key"],
      body: `Create${own}`,
      status: 201,
      returns: `The stored ${noun}.`,
      response: `${own}RecordResponse`,
      headers: ["Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"],
    },
    [`GET ${path}/{id}`]: {
      ...get,
      returns: `The ${noun}, and the number of products that refer to it.`,
    },
    [`PUT ${path}/{id}`]: {
      operationId: `update${own}`,
      summary: `Update ${one}`,
      description:
        "Changes only the fields in the body. Null clears a field. Later responses with products show the change.",
      tag,
      requestHeaders: ["If-Match"],
      body: `Update${own}`,
      returns: `The stored ${noun}.`,
      response: `${own}RecordResponse`,
      headers: ["ETag", "Ignored-Fields"],
    },
    [`DELETE ${path}/{id}`]: {
      operationId: `delete${own}`,
      summary: `Delete ${one}`,
      description:
        "Fails with 409 while products refer to the record; `details` has their number. `deleted` is false if the record does not exist.",
      tag,
      requestHeaders: ["If-Match"],
      returns: "The requested id, and whether a record was deleted.",
      response: "DeletedResponse",
      errors: ["CONFLICT"],
    },
  };
}

function pascal(table: string): string {
  return table.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
}
