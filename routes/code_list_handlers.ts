import { getCodeList, listCodeLists } from "../db/records/code_lists.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { success } from "../schema/envelope.ts";

/** `GET /code-lists`. */
export async function list({ database }: Authenticated): Promise<Answer> {
  return { status: 200, body: success(await listCodeLists(database)) };
}

/** `GET /code-lists/{number}`. */
export async function get(
  { params, database }: Authenticated,
): Promise<Answer> {
  const codes = await getCodeList(database, params.number!);
  return { status: 200, body: success(codes) };
}
