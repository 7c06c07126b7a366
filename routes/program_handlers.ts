import { listProgramProducts } from "../db/records/list_records.ts";
import { addToProgram, removeFromProgram } from "../db/records/programs.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { readQuery } from "../schema/list_query.ts";
import { PageParameters } from "../schema/record_query.ts";
import { pageAnswer } from "./page_answer.ts";

/** `GET /publishing-programs/{id}/products`. */
export async function list(
  { request, params, database }: Authenticated,
): Promise<Answer> {
  const url = new URL(request.url);
  const query = readQuery(PageParameters, url.searchParams);
  const page = await listProgramProducts(database, params.id!, query);
  return pageAnswer(url, query, page);
}

/** `PUT /publishing-programs/{id}/products/{product_id}`. */
export async function add(
  { params, database }: Authenticated,
): Promise<Answer> {
  await addToProgram(database, params.id!, params.product_id!);
  return { status: 204 };
}

/** `DELETE /publishing-programs/{id}/products/{product_id}`. */
export async function remove(
  { params, database }: Authenticated,
): Promise<Answer> {
  await removeFromProgram(database, params.id!, params.product_id!);
  return { status: 204 };
}
