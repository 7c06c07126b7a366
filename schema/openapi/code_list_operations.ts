import { GUARDED, type Operation } from "./operation.ts";

/** The operations on the ONIX lists that fields are checked against. */
export const CODE_LISTS = {
  "GET /code-lists": {
    operationId: "listCodeLists",
    summary: "List the ONIX code lists",
    description: "The lists that the codes in fields are checked against.",
    tag: "Code lists",
    answer: {
      status: 200,
      description: "Their numbers, and how many codes each has.",
      body: "CodeListsAnswer",
    },
    errors: GUARDED,
  },
  "GET /code-lists/{number}": {
    operationId: "getCodeList",
    summary: "Get an ONIX code list",
    tag: "Code lists",
    answer: {
      status: 200,
      description: "All codes of the list, with their labels.",
      body: "OnixCodesAnswer",
    },
    errors: [...GUARDED, "NOT_FOUND"],
  },
} satisfies Record<string, Operation>;
