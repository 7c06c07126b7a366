import { hash } from "node:crypto";
import type { Scope } from "../schema/api_key.ts";
import type { View } from "../schema/view.ts";
import { organization, sql, type Statement } from "./connections/sql.ts";

/* What a request looks up about its credentials: the stored key, or the member's role. */

/** A stored key. It contains the hash of the key, in hexadecimal, instead of the key. */
export interface StoredKey {
  organization_id: string;
  scope: Scope;
  key_hash: string;
  /** The time of its expiry or revocation, in milliseconds since 1970, or null. */
  ends_at: number | null;
  /** The recipient whose view the key gets, or null. */
  recipient_id: string | null;
}

/** `cat_`, the public id, `_`, 32 random bytes in base64url. */
export const API_KEY = /^cat_([0-9a-z]{12})_[\w-]{43}$/;

/** The hash in hexadecimal. SHA-256 suffices for 256 random bits: a slow hash would add nothing. */
export function hashOf(key: string): string {
  return hash("sha256", key, "hex");
}

/** The key with this public id, even if it is revoked or expired. */
export function keyById(id: string): Statement<StoredKey> {
  return sql`
    select
      k.organization_id,
      k.scope,
      encode(k.key_hash, 'hex') as key_hash,
      (extract(epoch from least(k.expires_at, k.revoked_at)) * 1000)::float8 as ends_at,
      k.recipient_id
    from api_keys k
    where k.id = ${id}
  `;
}

/** What a recipient of the organization sees. No row if it does not exist. */
export function viewOf(recipient: string): Statement<{ view: View }> {
  return sql`
    select r.view || jsonb_build_object('id', r.id) as view
    from recipients r
    where r.organization_id = ${organization} and r.id = ${recipient}
  `;
}

/** Stores the minute of the key's last use. */
export function touchKey(organizationId: string, id: string): Statement {
  return sql`
    insert into api_key_uses as u (organization_id, api_key_id, last_used_at)
    values (${organizationId}, ${id}, date_trunc('minute', now()))
    on conflict (organization_id, api_key_id)
    do update set last_used_at = excluded.last_used_at
    where u.last_used_at < excluded.last_used_at
  `;
}

/** The role of a member. A viewer may only read. */
export type Role = "viewer" | "editor" | "admin" | "owner";

/** The role of the user in the organization, or no row if the user is not a member. */
export function roleOf(userId: string): Statement<{ role: Role }> {
  return sql`
    select m.role
    from organization_members m
    where m.organization_id = ${organization} and m.user_id = ${userId}
  `;
}
