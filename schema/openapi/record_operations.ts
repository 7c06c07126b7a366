import {
  nounOf,
  OWN_TABLES,
  type OwnTable,
  type PathOf,
  pathOfTable,
  RECORDS,
  SHARED_TABLES,
  type SharedTable,
} from "../records.ts";
import { CODE_LISTS } from "./code_list_operations.ts";
import { GUARDED, type Operation, WITH_BODY } from "./operation.ts";
import { PROGRAMS } from "./program_operations.ts";

type OwnOperation =
  | `${"GET" | "POST"} ${PathOf<OwnTable>}`
  | `${"GET" | "PUT" | "DELETE"} ${PathOf<OwnTable>}/{id}`;

type SharedOperation =
  | `GET ${PathOf<SharedTable>}`
  | `GET ${PathOf<SharedTable>}/{id}`;

/** The operations on the records that products refer to. */
export const RECORD_OPERATIONS = {
  ...entries(OWN_TABLES, ownOperations) as Record<OwnOperation, Operation>,
  ...PROGRAMS,
  ...entries(SHARED_TABLES, sharedOperations) as Record<
    SharedOperation,
    Operation
  >,
  ...CODE_LISTS,
};

function entries<T>(tables: T[], operations: (table: T) => object) {
  return Object.assign({}, ...tables.map(operations)) as object;
}

function ownOperations(table: OwnTable): Record<string, Operation> {
  const { type } = RECORDS[table];
  const path = pathOfTable(table);
  const noun = nounOf(table);
  const one = /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
  const many = table.replaceAll("_", " ");
  const tag = "References";
  return {
    [`GET ${path}`]: {
      operationId: `list${pascal(table)}`,
      summary: `List ${many}`,
      description: "A page, by name by default. A page past the end is empty.",
      tag,
      query: ["page", "limit", "search", "name", "sort"],
      answer: {
        status: 200,
        description: "The page. `meta` has its number and the totals.",
        body: `${type}RecordsAnswer`,
        headers: ["Link"],
      },
      errors: GUARDED,
    },
    [`POST ${path}`]: {
      operationId: `create${type}`,
      summary: `Create ${one}`,
      description: "Two may have the same name.",
      tag,
      requestHeaders: ["Idempotency-Key"],
      body: `Create${type}`,
      answer: {
        status: 201,
        description: `The stored ${noun}.`,
        body: `${type}RecordAnswer`,
        headers: ["Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"],
      },
      errors: [...WITH_BODY, "IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"],
    },
    [`GET ${path}/{id}`]: {
      operationId: `get${type}`,
      summary: `Get ${one}`,
      tag,
      requestHeaders: ["If-None-Match"],
      answer: {
        status: 200,
        description: `The ${noun}, and how many products refer to it.`,
        body: `${type}RecordAnswer`,
        headers: ["ETag"],
      },
      isConditional: true,
      errors: [...GUARDED, "NOT_FOUND"],
    },
    [`PUT ${path}/{id}`]: {
      operationId: `update${type}`,
      summary: `Update ${one}`,
      description:
        "Changes the fields of the body and no others. Null clears a field. The next answer to a product shows the change.",
      tag,
      requestHeaders: ["If-Match"],
      body: `Update${type}`,
      answer: {
        status: 200,
        description: `The stored ${noun}.`,
        body: `${type}RecordAnswer`,
        headers: ["ETag", "Ignored-Fields"],
      },
      errors: [...WITH_BODY, "NOT_FOUND", "PRECONDITION_FAILED"],
    },
    [`DELETE ${path}/{id}`]: {
      operationId: `delete${type}`,
      summary: `Delete ${one}`,
      description:
        "Refused while products refer to it: `details` says how many. `deleted` is false if it does not exist.",
      tag,
      requestHeaders: ["If-Match"],
      answer: {
        status: 200,
        description: "The requested id, and whether a record was deleted.",
        body: "DeletedAnswer",
      },
      errors: [...GUARDED, "NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    },
  };
}

function sharedOperations(table: SharedTable): Record<string, Operation> {
  const { type } = RECORDS[table];
  const path = pathOfTable(table);
  const many = table.replaceAll("_", " ");
  const tag = "Code lists";
  return {
    [`GET ${path}`]: {
      operationId: `list${pascal(table)}`,
      summary: `List ${many}`,
      description: "All of them, by code.",
      tag,
      query: ["code"],
      answer: {
        status: 200,
        description: "All of them, or the one with the code.",
        body: `${type}RecordsAnswer`,
      },
      errors: GUARDED,
    },
    [`GET ${path}/{id}`]: {
      operationId: `get${type}`,
      summary: `Get a ${nounOf(table)}`,
      tag,
      requestHeaders: ["If-None-Match"],
      answer: {
        status: 200,
        description: `The ${nounOf(table)}.`,
        body: `${type}RecordAnswer`,
        headers: ["ETag"],
      },
      isConditional: true,
      errors: [...GUARDED, "NOT_FOUND"],
    },
  };
}

function pascal(table: string): string {
  return table.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
}
