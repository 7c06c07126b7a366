import {
  getCodeList,
  listCodeLists,
  listSharedRecords,
} from "../db/records/code_lists.ts";
import {
  listProgramProducts,
  listRecords,
} from "../db/records/list_records.ts";
import { addToProgram, removeFromProgram } from "../db/records/programs.ts";
import { getRecord } from "../db/records/shown_record.ts";
import {
  createRecord,
  deleteRecord,
  updateRecord,
} from "../db/records/write_record.ts";
import type { Authenticated, Handler } from "../middleware/context.ts";
import { etagOf, withCount } from "../middleware/conditional.ts";
import type { RECORD_OPERATIONS } from "../schema/openapi/record_operations.ts";
import { readQuery } from "../schema/parameters.ts";
import { createBody, updateBody } from "../schema/record_bodies.ts";
import {
  CodeParameters,
  PageParameters,
  RecordParameters,
} from "../schema/record_query.ts";
import {
  OWN_TABLES,
  type OwnTable,
  pathOfTable,
  type RecordTable,
  SHARED_TABLES,
  type SharedTable,
} from "../schema/records.ts";
import {
  creating,
  deleting,
  found,
  listing,
  ok,
  updating,
} from "./responses.ts";

type Handlers = Record<string, Handler<Authenticated>>;

function ownHandlers(table: OwnTable): Handlers {
  const path = pathOfTable(table);
  return {
    [`GET ${path}`]: listing(
      RecordParameters,
      ({ database }, query) => listRecords(database, table, query),
    ),
    [`POST ${path}`]: creating(
      path,
      createBody(table),
      (database, ...args) => createRecord(database, table, ...args),
    ),
    [`GET ${path}/{id}`]: getting(table),
    [`PUT ${path}/{id}`]: updating(
      updateBody(table),
      (database, ...args) => updateRecord(database, table, ...args),
    ),
    [`DELETE ${path}/{id}`]: deleting(
      (database, ...args) => deleteRecord(database, table, ...args),
    ),
  };
}

function sharedHandlers(table: SharedTable): Handlers {
  const path = pathOfTable(table);
  return {
    [`GET ${path}`]: async ({ request, database }) => {
      const { code } = readQuery(CodeParameters, new URL(request.url));
      return ok(await listSharedRecords(database, table, code));
    },
    [`GET ${path}/{id}`]: getting(table),
  };
}

function getting(table: RecordTable): Handler<Authenticated> {
  return async (context) => {
    const { database, params } = context;
    const { record, products } = await getRecord(database, table, params.id!);
    if (products === undefined) return found(context, record);
    return found(context, record, {
      show: (record) => record.replace(/\}$/, `,"products":${products}}`),
      etag: withCount(etagOf(record), products),
    });
  };
}

const PROGRAM_PRODUCTS = "/publishing-programs/{id}/products";

const OTHER_HANDLERS: Handlers = {
  [`GET ${PROGRAM_PRODUCTS}`]: listing(
    PageParameters,
    ({ database, params }, query) =>
      listProgramProducts(database, params.id!, query),
  ),
  [`PUT ${PROGRAM_PRODUCTS}/{product_id}`]: async ({ database, params }) => {
    await addToProgram(database, params.id!, params.product_id!);
    return { status: 204 };
  },
  [`DELETE ${PROGRAM_PRODUCTS}/{product_id}`]: async ({ database, params }) => {
    await removeFromProgram(database, params.id!, params.product_id!);
    return { status: 204 };
  },
  "GET /code-lists": async ({ database }) => ok(await listCodeLists(database)),
  "GET /code-lists/{number}": async ({ database, params }) =>
    ok(await getCodeList(database, params.number!)),
};

/** The handlers of the tables that products reference, and of the ONIX code lists. */
export const RECORD_HANDLERS: Record<
  keyof typeof RECORD_OPERATIONS,
  Handler<Authenticated>
> = Object.assign(
  {},
  ...OWN_TABLES.map(ownHandlers),
  ...SHARED_TABLES.map(sharedHandlers),
  OTHER_HANDLERS,
);
