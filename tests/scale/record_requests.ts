import { uuidv7 } from "../../db/uuid.ts";
import { RECORD_SORTS } from "../../schema/record_query.ts";
import {
  OWN_TABLES,
  pathOfTable,
  SHARED_TABLES,
} from "../../schema/records.ts";
import type { Organization } from "../support/app/harness.ts";

type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ body: { data: { id: string }[] & { id: string } } }>;

/** Sends every kind of request for records, and so each of their statements. */
export async function askForRecords(
  ask: Ask,
  org: Organization,
): Promise<void> {
  for (const table of OWN_TABLES) {
    const path = `/api${pathOfTable(table)}`;
    for (const sort of RECORD_SORTS) await ask("GET", `${path}?sort=${sort}`);
    await ask("GET", `${path}?search=spring e&name=Emma&page=2`);
    await ask("POST", path, { name: "A" });
    const { body: { data: { id } } } = await ask(
      "POST",
      path,
      { name: "A" },
      { "idempotency-key": table },
    );
    const record = `${path}/${id}`;
    await ask("GET", record);
    await ask("PUT", record, { name: "B" });
    await ask("DELETE", record, undefined, { "if-match": "*" });
    const { body: { data: [used] } } = await ask("GET", path);
    await ask("DELETE", `${path}/${used!.id}`);
  }
  for (const table of SHARED_TABLES) {
    const path = `/api${pathOfTable(table)}`;
    const { body: { data: [first] } } = await ask("GET", path);
    await ask("GET", `${path}?code=01`);
    await ask("GET", `${path}/${first!.id}`);
  }
  await ask("GET", "/api/code-lists");
  await ask("GET", "/api/code-lists/96");
  const products = `/api/publishing-programs/${org.program}/products`;
  await ask("GET", products);
  await ask("PUT", `${products}/${uuidv7()}`);
  await ask("DELETE", `${products}/${uuidv7()}`);
}
