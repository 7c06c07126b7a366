import type { Buffer } from "node:buffer";
import { createHash, randomBytes, randomInt } from "node:crypto";
import type { Operations } from "./database.ts";
import { shared } from "./connections/gathering.ts";
import type { Sql } from "./connections/sql.ts";

/** What a key may do. */
export type Scope = "read" | "write";

/** A key as it is stored: by its public id, and by the hash of the whole. */
export interface StoredKey {
  organization_id: string;
  scope: Scope;
  key_hash: Uint8Array;
  /** When it expires or is revoked, in milliseconds since 1970; null for never. */
  ends_at: number | null;
}

/** `cat_`, the public id, `_`, 32 random bytes in base64url. */
export const API_KEY = /^cat_([0-9a-z]{12})_[\w-]{43}$/;

/** SHA-256: the key is as random as its hash, so no slower one is needed. */
export function hashOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** The key with this public id, revoked and expired ones too. */
export function findKey(
  database: Operations,
  id: string,
): Promise<StoredKey | undefined> {
  return database.lookUp(shared(`key ${id}`, async (sql) => {
    const [key] = await sql<StoredKey[]>`
      select
        k.organization_id,
        k.scope,
        k.key_hash,
        (extract(epoch from least(k.expires_at, k.revoked_at)) * 1000)::float8 as ends_at
      from api_keys k
      where k.id = ${id}
    `;
    return key;
  }));
}

/** Remembers, to the minute, when the key was last used. */
export async function touchKey(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<void> {
  await sql`
    insert into api_key_uses as u (organization_id, api_key_id, last_used_at)
    values (${organizationId}, ${id}, date_trunc('minute', now()))
    on conflict (organization_id, api_key_id)
    do update set last_used_at = excluded.last_used_at
    where u.last_used_at < excluded.last_used_at
  `;
}

/** Makes a key and returns it: only its hash is kept, so this is the only time it is seen. */
export async function issueKey(
  sql: Sql,
  { organizationId, name, scope, expiresAt }: {
    organizationId: string;
    name: string;
    scope: Scope;
    expiresAt?: string | undefined;
  },
): Promise<string> {
  const id = Array.from({ length: 12 }, () => randomInt(36).toString(36)).join(
    "",
  );
  const key = `cat_${id}_${randomBytes(32).toString("base64url")}`;
  await sql`
    insert into api_keys (id, organization_id, name, scope, key_hash, expires_at)
    values (${id}, ${organizationId}, ${name}, ${scope}, ${
    hashOf(key)
  }, ${expiresAt})
  `;
  return key;
}

/** Ends a key now, or at a time (ISO 8601), and gives that time; nothing where there is no such key. */
export async function revokeKey(
  sql: Sql,
  id: string,
  at?: string,
): Promise<string | undefined> {
  await sql`
    update api_keys k
    set revoked_at = ${at === undefined ? sql`now()` : at}
    where k.id = ${id}
  `;
  // Not by `returning`: a distributed database makes no text of a time there.
  const [key] = await sql<{ revoked_at: string }[]>`
    select ${iso(sql, "k.revoked_at")} as revoked_at
    from api_keys k
    where k.id = ${id}
  `;
  return key?.revoked_at;
}

/** The keys of an organization, the newest first, without anything secret. */
export async function listKeys(
  sql: Sql,
  organizationId: string,
): Promise<Record<string, unknown>[]> {
  return await sql`
    select
      k.id as public_id,
      k.name,
      k.scope,
      ${iso(sql, "k.created_at")} as created_at,
      ${iso(sql, "k.expires_at")} as expires_at,
      ${iso(sql, "k.revoked_at")} as revoked_at,
      ${iso(sql, "u.last_used_at")} as last_used_at
    from api_keys k
    left join api_key_uses u on u.organization_id = ${organizationId} and u.api_key_id = k.id
    where k.organization_id = ${organizationId}
    order by k.created_at desc, k.id
  `;
}

function iso(sql: Sql, column: string) {
  return sql`to_char(${
    sql(column)
  } at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}
