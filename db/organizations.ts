import { organization, sql, type Statement } from "./connections/sql.ts";

/** The role of a member. A viewer may only read. */
export type Role = "viewer" | "editor" | "admin" | "owner";

/** Creates an organization, and returns its id. */
export function createOrganization(name: string): Statement<{ id: string }> {
  return sql`
    insert into organizations (name) values (${name}) returning id
  `;
}

/** Every organization, by name. */
export const listOrganizations: Statement<Record<string, unknown>> =
  sql`select id, name from organizations order by name, id`;

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
