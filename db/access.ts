import { hash, randomBytes, randomInt } from "node:crypto";
import type { Scope } from "../schema/api_key.ts";
import { organization, sql, type Statement } from "./connections/sql.ts";
import { rfc3339 } from "./times.ts";

/** Creates an organization, and returns its id. */
export function createOrganization(name: string): Statement<{ id: string }> {
  return sql`
    insert into organizations (name) values (${name}) returning id
  `;
}

/** Every organization, by name. */
export const listOrganizations: Statement<Record<string, unknown>> =
  sql`select id, name from organizations order by name, id`;

/** A stored key. It contains the hash of the key, in hexadecimal, instead of the key. */
export interface StoredKey {
  organization_id: string;
  scope: Scope;
  key_hash: string;
  /** The time of its expiry or revocation, in milliseconds since 1970, or null. */
  ends_at: number | null;
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
      (extract(epoch from least(k.expires_at, k.revoked_at)) * 1000)::float8 as ends_at
    from api_keys k
    where k.id = ${id}
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

/** A new key, and the statement that stores its hash. The key itself is not stored. */
export function newKey(
  { organizationId = organization, name, scope, expiresAt = null }: {
    /** The default is the caller's organization. */
    organizationId?: string | typeof organization;
    name: string;
    scope: Scope;
    expiresAt?: string | null | undefined;
  },
): { id: string; key: string; statement: Statement } {
  const digits = Array.from({ length: 12 }, () => randomInt(36).toString(36));
  const id = digits.join("");
  const key = `cat_${id}_${randomBytes(32).toString("base64url")}`;
  const digest = hashOf(key);
  const statement = sql`
    insert into api_keys (id, organization_id, name, scope, key_hash, expires_at)
    values (
      ${id}, ${organizationId}, ${name}, ${scope}, decode(${digest}, 'hex'), ${expiresAt}
    )
  `;
  return { id, key, statement };
}

/** Revokes a key of any organization now or at a later time (ISO 8601). Revocation is final. */
export function revokeKey(id: string, at?: string): Statement {
  return sql`
    update api_keys k
    set revoked_at = greatest(${at ?? null}::timestamptz, now())
    where k.id = ${id} and (k.revoked_at is null or k.revoked_at > now())
  `;
}

/** Revokes a key of the caller's organization, as `revokeKey` does. */
export function revokeOwnKey(id: string, at?: string): Statement {
  return sql`${revokeKey(id, at)} and k.organization_id = ${organization}`;
}

/** The revocation time of a key. A distributed database cannot format it in a `returning` clause. */
export function endOfKey(id: string): Statement<{ revoked_at: string }> {
  return sql`
    select ${rfc3339("k.revoked_at")} as revoked_at
    from api_keys k
    where k.id = ${id}
  `;
}

/** A key without its hash. */
export interface ListedKey {
  public_id: string;
  [column: string]: unknown;
}

/** The minute of the last use, or the time of the key's creation within that. */
const LAST_USED_AT =
  "case when u.last_used_at is not null then greatest(u.last_used_at, k.created_at) end";

const keys = sql<ListedKey>`
  select
    k.id as public_id,
    k.name,
    k.scope,
    ${rfc3339("k.created_at")} as created_at,
    ${rfc3339("k.expires_at")} as expires_at,
    ${rfc3339("k.revoked_at")} as revoked_at,
    ${rfc3339(LAST_USED_AT)} as last_used_at
  from api_keys k
  left join api_key_uses u on u.organization_id = ${organization} and u.api_key_id = k.id
  where k.organization_id = ${organization}
`;

/** The keys of the organization, newest first. */
export const listKeys: Statement<ListedKey> = sql`${keys} order by k.created_at desc, k.id`;

/** One key of the organization. */
export function listedKey(id: string): Statement<ListedKey> {
  return sql`${keys} and k.id = ${id}`;
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

/** Adds the user as a member with this role, or changes the member's role. */
export function addMember(userId: string, role: Role): Statement {
  return sql`
    insert into organization_members (organization_id, user_id, role)
    values (${organization}, ${userId}, ${role})
    on conflict (organization_id, user_id) do update set role = excluded.role
  `;
}

/** The members of the organization, by user. */
export const listMembers: Statement<Record<string, unknown>> = sql`
  select m.user_id, m.role
  from organization_members m
  where m.organization_id = ${organization}
  order by m.user_id
`;

/** Removes a member. Returns a row if the user was a member. */
export function removeMember(userId: string): Statement<{ user_id: string }> {
  return sql`
    delete from organization_members m
    where m.organization_id = ${organization} and m.user_id = ${userId}
    returning m.user_id
  `;
}
