import { randomBytes, randomInt } from "node:crypto";
import type { Scope } from "../schema/api_key.ts";
import { organization, sql, type Statement } from "./connections/sql.ts";
import { hashOf, type Role } from "./credentials.ts";
import { rfc3339 } from "./times.ts";

/* The administration of access: organizations, keys and members. */

/** Creates an organization, and returns its id. */
export function createOrganization(name: string): Statement<{ id: string }> {
  return sql`
    insert into organizations (name) values (${name}) returning id
  `;
}

/** Every organization, by name. */
export const listOrganizations: Statement<Record<string, unknown>> =
  sql`select id, name from organizations order by name, id`;

/** Locks a recipient, so that it stays while a key is bound to it. No row if it does not exist. */
export function keepRecipient(id: string): Statement {
  return sql`
    select from recipients r
    where r.organization_id = ${organization} and r.id = ${id}
    for key share
  `;
}

/** A new key, and the statement that stores its hash. The key itself is not stored. */
export function newKey(
  { organizationId = organization, name, scope, expiresAt = null, recipient = null }: {
    /** The default is the caller's organization. */
    organizationId?: string | typeof organization;
    name: string;
    scope: Scope;
    expiresAt?: string | null | undefined;
    /** The recipient whose view the key gets. It must exist (`keepRecipient`). */
    recipient?: string | null | undefined;
  },
): { id: string; key: string; statement: Statement } {
  const digits = Array.from({ length: 12 }, () => randomInt(36).toString(36));
  const id = digits.join("");
  const key = `cat_${id}_${randomBytes(32).toString("base64url")}`;
  const digest = hashOf(key);
  const statement = sql`
    insert into api_keys (id, organization_id, name, scope, key_hash, expires_at, recipient_id)
    values (
      ${id}, ${organizationId}, ${name}, ${scope}, decode(${digest}, 'hex'), ${expiresAt}, ${recipient}
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
    k.recipient_id,
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
