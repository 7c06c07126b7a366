import { timingSafeEqual } from "node:crypto";
import {
  API_KEY,
  findKey,
  hashOf,
  type StoredKey,
  touchKey,
} from "../db/api_keys.ts";
import type { Operations } from "../db/database.ts";
import { findRole, type Role } from "../db/organizations.ts";
import { type Caller, noting, replicated } from "../db/own_writes.ts";
import { ApiError } from "../schema/errors.ts";
import { Cache } from "./credential_cache.ts";
import type { Answer, Authenticated, Context, Handler } from "./context.ts";
import { errorFields } from "./log.ts";
import { checkReady } from "./ready.ts";
import { unauthorized } from "./token.ts";

interface KnownKey extends StoredKey {
  /** The minute it was last seen to be used. */
  usedInMinute: number;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Makes the guard of handlers: only a caller with good credentials (`need` says
 * for what) reaches one. An API key decides alone; without one a Bearer token
 * does, for the organization in `x-organization-id` (specification, 5). Throws
 * `UNAUTHORIZED` or `FORBIDDEN`.
 */
export function createGuard() {
  const keys = new Cache<KnownKey>();
  const roles = new Cache<Role>();

  return function guarded(
    need: "read" | "write",
    handler: Handler<Authenticated>,
  ): Handler {
    return async (context): Promise<Answer> => {
      const { services, timing, request } = context;
      checkReady(services);
      const apiKey = request.headers.get("x-api-key");
      const caller = await timing.auth.time(() =>
        services.telemetry.span(
          "authentication",
          () =>
            apiKey === null
              ? byToken(context, roles)
              : byKey(context, keys, apiKey),
        )
      );
      const { organizationId } = caller;
      context.facts.organization_id = organizationId;
      if (need === "write" && !caller.mayWrite) {
        throw new ApiError(
          "FORBIDDEN",
          "These credentials may read and not write",
        );
      }
      const database = operationsOf(context, caller, need);
      return await handler({ ...context, organizationId, database });
    };
  };
}

/** What the handler may do with the database: with both, where there are two. */
function operationsOf(
  { database, replica }: Context,
  caller: Caller,
  need: "read" | "write",
): Operations {
  if (!replica) return database;
  return need === "write"
    ? noting(database, caller)
    : replicated(database, replica, caller);
}

async function byKey(
  context: Context,
  keys: Cache<KnownKey>,
  apiKey: string,
): Promise<Caller> {
  const id = API_KEY.exec(apiKey)?.[1];
  if (!id) throw unauthorized("The API key is missing or not valid");
  const hash = hashOf(apiKey);
  const key = await keys.get(hash.toString("latin1"), async () => {
    const key = await findKey(context.database, id);
    if (key && timingSafeEqual(key.key_hash, hash)) {
      return { ...key, usedInMinute: 0 };
    }
  });
  if (!key || key.ends_at !== null && key.ends_at <= Date.now()) {
    throw unauthorized("The API key is missing or not valid");
  }
  context.facts.api_key = id;
  noteUse(context, key, id);
  return {
    organizationId: key.organization_id,
    name: id,
    mayWrite: key.scope === "write",
  };
}

/** Nobody waits for it, and a request does not fail for it. */
function noteUse(
  { services, database }: Context,
  key: KnownKey,
  id: string,
): void {
  const minute = Math.floor(Date.now() / 60_000);
  if (key.usedInMinute === minute) return;
  key.usedInMinute = minute;
  database.run((sql) => touchKey(sql, key.organization_id, id)).catch((
    error,
  ) =>
    services.log("warn", {
      message: "The use of an API key was not noted",
      api_key: id,
      cause: errorFields(error),
    })
  );
}

async function byToken(
  { request, database, services }: Context,
  roles: Cache<Role>,
): Promise<Caller> {
  const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(
    request.headers.get("authorization") ?? "",
  )?.[1];
  if (!token) {
    throw unauthorized(
      "Credentials are needed: x-api-key, or Authorization with a Bearer token",
    );
  }
  if (!services.verifyToken) {
    throw unauthorized("Bearer tokens are not accepted here: use x-api-key");
  }
  const subject = await services.verifyToken(token);

  const organizationId = request.headers.get("x-organization-id")?.trim()
    .toLowerCase();
  if (!organizationId) {
    throw unauthorized("A Bearer token needs x-organization-id");
  }
  const role = UUID.test(organizationId)
    ? await roles.get(
      `${organizationId} ${subject}`,
      () => findRole(database, organizationId, subject),
    )
    : undefined;
  if (!role) {
    throw new ApiError(
      "FORBIDDEN",
      "The subject of the token is no member of this organization",
    );
  }
  return { organizationId, name: subject, mayWrite: role !== "viewer" };
}
