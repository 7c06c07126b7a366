import { getCodeList, listCodeLists, listSharedRecords } from "../db/records/code_lists.ts";
import { etagOf } from "../db/entity_tag.ts";
import { getOrganization, updateOrganization } from "../db/records/organization.ts";
import { addToProgram, listProgramProducts, removeFromProgram } from "../db/records/programs.ts";
import {
  createRecord,
  deleteRecord,
  findNamesakes,
  getRecord,
  listRecords,
  updateRecord,
} from "../db/records/records.ts";
import { withCount } from "../middleware/conditional.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import type { Entry } from "../schema/bodies.ts";
import { detailAt } from "../schema/errors.ts";
import type { CodeQuery, PageQuery, RecordQuery } from "../schema/record_query.ts";
import { nounOf } from "../schema/records.ts";
import { created, current, deletion, ok, page } from "../middleware/responses.ts";

/*
 * The handlers of the tables that products refer to, of publishing programs and of code
 * lists. The path names the table: `params.records` or `params.codes`.
 */

/** `GET /{records}`. */
export async function list(
  context: Admitted<RecordQuery>,
): Promise<HandlerResponse> {
  const { database, params, query } = context;
  return page(context, await listRecords(database, params.records, query));
}

/** `POST /{records}`. */
export async function create(
  context: Admitted<unknown, Entry>,
): Promise<HandlerResponse> {
  const { database, params, body, keyed } = context;
  const namesakes = await namesakesOf(context);
  const outcome = await createRecord(database, params.records, body, keyed);
  noteNamesakes(context, namesakes, outcome.id);
  return created(context, outcome);
}

/** The ids of the records that have the name in the body already. They are read before the write. */
async function namesakesOf(
  { database, params, body }: Admitted<unknown, Entry>,
): Promise<string[]> {
  return typeof body.name === "string"
    ? await findNamesakes(database, params.records, body.name)
    : [];
}

/** Warns that other records have the same name: a body of a product cannot name one of them. */
function noteNamesakes(
  context: Admitted<unknown, Entry>,
  namesakes: readonly string[],
  own: string | null,
): void {
  const others = namesakes.filter((id) => id !== own);
  if (others.length === 0) return;
  const noun = nounOf(context.params.records);
  context.warnings = [detailAt(
    "/name",
    `duplicate: Another ${noun} has this name: ${
      others.join(", ")
    }. A product can refer to either by its id alone`,
  )];
}

/** `GET /{records}/{id}`: the record, and the number of products that refer to it. */
export async function get(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  const { record, products = 0 } = await getRecord(
    database,
    params.records,
    params.id,
  );
  return current(
    record.replace(/\}$/, `,"products":${products}}`),
    withCount(etagOf(record), products),
  );
}

/** `PUT /{records}/{id}`. */
export async function update(
  context: Admitted<unknown, Entry>,
): Promise<HandlerResponse> {
  const { database, params: { records, id }, body, precondition } = context;
  const namesakes = await namesakesOf(context);
  const record = await updateRecord(database, records, id, body, precondition);
  noteNamesakes(context, namesakes, id.toLowerCase());
  return current(record);
}

/** `DELETE /{records}/{id}`. */
export async function remove(
  { database, params: { records, id }, precondition }: Admitted,
): Promise<HandlerResponse> {
  return deletion(id, await deleteRecord(database, records, id, precondition));
}

/** `GET /organization`. */
export async function getOwnOrganization(
  { database }: Admitted,
): Promise<HandlerResponse> {
  return current(await getOrganization(database));
}

/** `PUT /organization`. */
export async function updateOwnOrganization(
  { database, body, precondition }: Admitted<unknown, Entry>,
): Promise<HandlerResponse> {
  return current(await updateOrganization(database, body, precondition));
}

/** `GET /publishing-programs/{id}/products`. */
export async function listOfProgram(
  context: Admitted<PageQuery>,
): Promise<HandlerResponse> {
  const { database, params, query } = context;
  return page(context, await listProgramProducts(database, params.id, query));
}

/** `PUT /publishing-programs/{id}/products/{product_id}`. */
export async function addProduct(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  await addToProgram(database, params.id, params.product_id);
  return { status: 204 };
}

/** `DELETE /publishing-programs/{id}/products/{product_id}`. */
export async function removeProduct(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  await removeFromProgram(database, params.id, params.product_id);
  return { status: 204 };
}

/** `GET /{codes}`. */
export async function listCodes(
  context: Admitted<CodeQuery>,
): Promise<HandlerResponse> {
  const { database, params, query } = context;
  return page(context, await listSharedRecords(database, params.codes, query));
}

/** `GET /{codes}/{id}`. */
export async function getCode(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  const { record } = await getRecord(database, params.codes, params.id);
  return current(record);
}

/** `GET /code-lists`. */
export async function listLists(
  context: Admitted<PageQuery>,
): Promise<HandlerResponse> {
  return page(context, await listCodeLists(context.database, context.query));
}

/** `GET /code-lists/{number}`. */
export async function getList(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  return ok(await getCodeList(database, params.number));
}
