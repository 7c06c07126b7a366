import type { Operations } from "./database.ts";
import { shared } from "./connections/gathering.ts";
import type { Sql } from "./connections/sql.ts";

/** What a member may do; a viewer reads only. */
export type Role = "viewer" | "editor" | "admin" | "owner";

/** Makes an organization and gives its id. */
export async function createOrganization(
  sql: Sql,
  name: string,
): Promise<string> {
  const [organization] = await sql<{ id: string }[]>`
    insert into organizations (name) values (${name}) returning id
  `;
  return organization!.id;
}

/** The role of the user in the organization, if a member. */
export function findRole(
  database: Operations,
  organizationId: string,
  userId: string,
): Promise<Role | undefined> {
  return database.lookUp(
    shared(`role ${organizationId} ${userId}`, async (sql) => {
      const [member] = await sql<{ role: Role }[]>`
        select m.role
        from organization_members m
        where m.organization_id = ${organizationId} and m.user_id = ${userId}
      `;
      return member?.role;
    }),
  );
}

/** Makes the user a member with this role, or gives the member this role. */
export async function addMember(
  sql: Sql,
  organizationId: string,
  userId: string,
  role: Role,
): Promise<void> {
  await sql`
    insert into organization_members (organization_id, user_id, role)
    values (${organizationId}, ${userId}, ${role})
    on conflict (organization_id, user_id) do update set role = excluded.role
  `;
}

/** The members of an organization, by user. */
export async function listMembers(
  sql: Sql,
  organizationId: string,
): Promise<Record<string, unknown>[]> {
  return await sql`
    select m.user_id, m.role
    from organization_members m
    where m.organization_id = ${organizationId}
    order by m.user_id
  `;
}

/** Ends a membership, and says whether there was one. */
export async function removeMember(
  sql: Sql,
  organizationId: string,
  userId: string,
): Promise<boolean> {
  const rows = await sql`
    delete from organization_members m
    where m.organization_id = ${organizationId} and m.user_id = ${userId}
    returning m.user_id
  `;
  return rows.length > 0;
}
