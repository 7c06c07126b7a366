import { listCodes } from "../db/records/code_lists.ts";
import { listRecords } from "../db/records/list_records.ts";
import { getRecord } from "../db/records/shown_record.ts";
import {
  createRecord,
  deleteRecord,
  updateRecord,
} from "../db/records/write_record.ts";
import type { createGuard } from "../middleware/auth.ts";
import { readText, validBody } from "../middleware/body.ts";
import type { Answer, Authenticated, Handler } from "../middleware/context.ts";
import { etagOf, isNotModified, preconditionOf } from "../middleware/etag.ts";
import { idempotencyKeyOf } from "../middleware/request_headers.ts";
import { success } from "../schema/envelope.ts";
import { readQuery } from "../schema/list_query.ts";
import type { RECORD_OPERATIONS } from "../schema/openapi/record_operations.ts";
import { createBody, updateBody } from "../schema/record_bodies.ts";
import { CodeParameters, RecordParameters } from "../schema/record_query.ts";
import {
  OWN_TABLES,
  type OwnTable,
  pathOfTable,
  type RecordTable,
  SHARED_TABLES,
  type SharedTable,
} from "../schema/records.ts";
import * as codeLists from "./code_list_handlers.ts";
import { pageAnswer } from "./page_answer.ts";
import * as programs from "./program_handlers.ts";

type Guard = ReturnType<typeof createGuard>;

/** The handlers of the records that products refer to, one set for each table. */
export function recordHandlers(
  guarded: Guard,
): Record<keyof typeof RECORD_OPERATIONS, Handler> {
  const own = OWN_TABLES.map((table) => {
    const path = pathOfTable(table);
    return {
      [`GET ${path}`]: guarded("read", listing(table)),
      [`POST ${path}`]: guarded("write", creating(table)),
      [`GET ${path}/{id}`]: guarded("read", getting(table)),
      [`PUT ${path}/{id}`]: guarded("write", updating(table)),
      [`DELETE ${path}/{id}`]: guarded("write", deleting(table)),
    };
  });
  const shared = SHARED_TABLES.map((table) => {
    const path = pathOfTable(table);
    return {
      [`GET ${path}`]: guarded("read", listingCodes(table)),
      [`GET ${path}/{id}`]: guarded("read", getting(table)),
    };
  });
  const products = "/publishing-programs/{id}/products";
  return Object.assign({}, ...own, ...shared, {
    [`GET ${products}`]: guarded("read", programs.list),
    [`PUT ${products}/{product_id}`]: guarded("write", programs.add),
    [`DELETE ${products}/{product_id}`]: guarded("write", programs.remove),
    "GET /code-lists": guarded("read", codeLists.list),
    "GET /code-lists/{number}": guarded("read", codeLists.get),
  });
}

function listing(table: OwnTable) {
  return async ({ request, database }: Authenticated): Promise<Answer> => {
    const url = new URL(request.url);
    const query = readQuery(RecordParameters, url.searchParams);
    return pageAnswer(url, query, await listRecords(database, table, query));
  };
}

function listingCodes(table: SharedTable) {
  return async ({ request, database }: Authenticated): Promise<Answer> => {
    const { searchParams } = new URL(request.url);
    const { code } = readQuery(CodeParameters, searchParams);
    return {
      status: 200,
      body: success(await listCodes(database, table, code)),
    };
  };
}

function creating(table: OwnTable) {
  const schema = createBody(table);
  const path = pathOfTable(table);
  return async (context: Authenticated): Promise<Answer> => {
    const { request, database, services } = context;
    const key = idempotencyKeyOf(request.headers);
    using memory = context.memory.bodies.reserve(context.facts);
    const text = await readText(context, memory);
    const body = validBody(context, text, schema);
    const { id, answer, isReplayed } = await createRecord(
      database,
      table,
      body,
      key === undefined ? undefined : { operation: `POST ${path}`, key, text },
    );
    return {
      status: 201,
      body: success(answer),
      headers: {
        location: `${services.apiPrefix}${path}/${id}`,
        etag: etagOf(answer),
        ...isReplayed && { "idempotent-replayed": "true" },
      },
    };
  };
}

/** The ETag is that of the record alone: it does not change with every product. */
function getting(table: RecordTable) {
  return async (
    { request, params, database }: Authenticated,
  ): Promise<Answer> => {
    const { record, products } = await getRecord(database, table, params.id!);
    const etag = etagOf(record);
    if (isNotModified(request.headers, etag)) {
      return { status: 304, headers: { etag } };
    }
    const data = products === undefined
      ? record
      : record.replace(/\}$/, `,"products":${products}}`);
    return { status: 200, body: success(data), headers: { etag } };
  };
}

function updating(table: OwnTable) {
  const schema = updateBody(table);
  return async (context: Authenticated): Promise<Answer> => {
    const { request, params, database } = context;
    using memory = context.memory.bodies.reserve(context.facts);
    const text = await readText(context, memory);
    const body = validBody(context, text, schema);
    const record = await updateRecord(
      database,
      table,
      params.id!,
      body,
      preconditionOf(request.headers.get("if-match")),
    );
    return {
      status: 200,
      body: success(record),
      headers: { etag: etagOf(record) },
    };
  };
}

function deleting(table: OwnTable) {
  return async (
    { request, params, database }: Authenticated,
  ): Promise<Answer> => {
    const id = params.id!;
    const precondition = preconditionOf(request.headers.get("if-match"));
    const deleted = await deleteRecord(database, table, id, precondition);
    return { status: 200, body: success(JSON.stringify({ id, deleted })) };
  };
}
