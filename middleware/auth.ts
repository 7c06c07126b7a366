import { timingSafeEqual } from "node:crypto";
import {
  API_KEY,
  hashOf,
  keyById,
  type StoredKey,
  touchKey,
} from "../db/api_keys.ts";
import type { Caller } from "../db/connections/queue.ts";
import type { Queries } from "../db/database.ts";
import { type Role, roleOf } from "../db/organizations.ts";
import { ApiError } from "../schema/errors.ts";
import { NoParameters, readQuery } from "../schema/parameters.ts";
import { isUuid } from "../schema/values.ts";
import { CredentialCache } from "./credential_cache.ts";
import type { Answer, Authenticated, Context, Handler } from "./context.ts";
import { KeyUses } from "./key_uses.ts";
import { errorFields } from "./log.ts";
import { checkReady } from "./conditional.ts";
import { begin } from "./timing.ts";
import { unauthorized } from "./jwt.ts";

/** The permission that an operation requires. */
export type Need = "read" | "write" | "administer";

/** A caller with its permissions. */
interface KnownCaller extends Caller {
  mayWrite: boolean;
  mayAdminister: boolean;
}

/** What the guard remembers of credentials. */
interface Known {
  keys: CredentialCache<StoredKey>;
  roles: CredentialCache<Role>;
  uses: KeyUses;
}

/** The beginning of an API key in `Authorization`. */
const MISPLACED_KEY = /^(?:\w+ +)?cat_/i;

/**
 * Creates the guard of handlers, which admits callers with sufficient credentials.
 * An API key takes precedence over a Bearer token, which acts for the organization
 * in `x-organization-id` (specification, 5). Throws `UNAUTHORIZED` or `FORBIDDEN`,
 * `VALIDATION_ERROR` for parameters that the operation does not have, and
 * `SERVICE_UNAVAILABLE` if the credentials cannot be checked now.
 */
export function createGuard() {
  const known: Known = {
    keys: new CredentialCache(),
    roles: new CredentialCache(),
    uses: new KeyUses(),
  };

  return function guarded(
    need: Need,
    handler: Handler<Authenticated>,
  ): Handler {
    return async (context): Promise<Answer> => {
      const { services, request } = context;
      checkReady(services);
      const caller = await authenticate(context, known);
      context.facts.caller = caller;
      if (need === "write" && !caller.mayWrite) {
        throw forbidden("These credentials only permit reading");
      }
      if (need === "administer" && !caller.mayAdminister) {
        throw forbidden(
          "Only the Bearer token of an admin or owner may do this",
        );
      }
      if (!context.takesQuery && request.url.includes("?")) {
        readQuery(NoParameters, new URL(request.url));
      }
      const database = databaseFor(context, caller);
      return await handler({ ...context, database });
    };
  };
}

/** The replica for callers that may only read, if there is one. Otherwise the primary. */
function databaseFor(
  { services: { database, replica, telemetry }, deadline, timing }: Context,
  caller?: Caller & { mayWrite?: boolean },
): Queries {
  const observe = (operation: string) =>
    begin(`database ${operation}`, timing.db, telemetry);
  const primary = database.for({ deadline, caller, observe });
  return replica && caller?.mayWrite === false
    ? replica.for({ deadline, caller, primary, observe })
    : primary;
}

async function authenticate(
  context: Context,
  known: Known,
): Promise<KnownCaller> {
  const { request, timing, services } = context;
  const end = begin("authentication", timing.auth, services.telemetry);
  const apiKey = request.headers.get("x-api-key");
  const caller = apiKey === null
    ? byToken(context, known)
    : byKey(context, known, apiKey);
  caller.then(() => end(), end);
  return await caller;
}

async function byKey(
  context: Context,
  { keys, uses }: Known,
  apiKey: string,
): Promise<KnownCaller> {
  const id = API_KEY.exec(apiKey)?.[1];
  if (!id) {
    throw unauthorized(
      "The header x-api-key is not a complete API key: cat_, 12 characters, _, 43 characters",
    );
  }
  const key = await keys.get(apiKey, async () => {
    const [key] = await databaseFor(context).lookUp(keyById(id));
    if (key && timingSafeEqual(key.key_hash, hashOf(apiKey))) return key;
  });
  if (!key) throw unauthorized("The API key is not valid");
  if (key.ends_at !== null && key.ends_at <= Date.now()) {
    throw unauthorized("The API key has expired or been revoked");
  }
  context.facts.api_key = id;
  const caller = { organizationId: key.organization_id, name: id };
  if (uses.add(id)) recordUse(context, caller);
  return { ...caller, mayWrite: key.scope === "write", mayAdminister: false };
}

/** Records the use in the background, so that it neither delays nor fails the request. */
function recordUse({ services, deadline }: Context, caller: Caller): void {
  services.database.for({ deadline, caller })
    .write(touchKey(caller.name)).catch((error) =>
      services.log("warn", {
        message: "Could not record the last use of an API key",
        api_key: caller.name,
        cause: errorFields(error),
      })
    );
}

async function byToken(
  context: Context,
  { roles }: Known,
): Promise<KnownCaller> {
  const { request, services } = context;
  const authorization = request.headers.get("authorization") ?? "";
  const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)
    ?.[1];
  if (!token) {
    throw unauthorized(
      MISPLACED_KEY.test(authorization)
        ? "An API key belongs in the header x-api-key, not in Authorization"
        : "Credentials are required: x-api-key, or Authorization with a Bearer token",
    );
  }
  if (!services.verifyToken) {
    throw unauthorized("Bearer tokens are not accepted here: use x-api-key");
  }
  const subject = await services.verifyToken(token);

  const organizationId = request.headers.get("x-organization-id")
    ?.toLowerCase();
  if (!organizationId) {
    throw unauthorized("A Bearer token requires x-organization-id");
  }
  const caller = { organizationId, name: subject };
  const role = isUuid(organizationId)
    ? await roles.get(`${organizationId} ${subject}`, async () => {
      const database = databaseFor(context, caller);
      const [member] = await database.lookUp(roleOf(subject));
      return member?.role;
    })
    : undefined;
  if (!role) {
    throw forbidden(
      "The subject of the token is not a member of this organization",
    );
  }
  return {
    ...caller,
    mayWrite: role !== "viewer",
    mayAdminister: role === "admin" || role === "owner",
  };
}

function forbidden(message: string): ApiError {
  return new ApiError("FORBIDDEN", message);
}
