import { newKey } from "../../../db/access.ts";
import type { App } from "./harness.ts";
import type { Organization } from "./organization.ts";
import { settled } from "./settled.ts";
import type { Reply } from "../client/envelope.ts";
import { assertEquals } from "@std/assert";

/** A recipient, and a client with a key of it. */
export interface BoundReader {
  id: string;
  key: string;
  get(path: string, headers?: HeadersInit): Promise<Reply>;
}

/**
 * Waits until the reader's feed shows everything that was written before. What its first request
 * writes of products that enter or leave the view waits for older transactions of the server too.
 */
export async function settledFor(reader: BoundReader, app: App): Promise<void> {
  const { status, text } = await reader.get("/api/products/changes?limit=1");
  assertEquals(status, 200, text);
  await settled(app.sql);
}

/** Creates a recipient with this body, and a key of it. */
export async function bound(app: App, org: Organization, body: object = {}): Promise<BoundReader> {
  const { status, body: created, text } = await org.post("/api/recipients", {
    name: "Shop",
    ...body,
  });
  assertEquals(status, 201, text);
  const { id } = created.data;
  const { key, statement } = newKey({
    organizationId: org.id,
    name: "Shop",
    scope: "read",
    recipient: id,
  });
  await app.sql.begin(async (sql) => {
    await sql`${statement}`;
  });
  return {
    id,
    key,
    get: (path, headers) =>
      org.get(path, { "x-api-key": key, ...Object.fromEntries(new Headers(headers)) }),
  };
}
