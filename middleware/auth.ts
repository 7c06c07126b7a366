import {
  API_KEY,
  hashOf,
  keyById,
  type Role,
  roleOf,
  type StoredKey,
  touchKey,
} from "../db/credentials.ts";
import type { Caller } from "../db/connections/queue.ts";
import { ApiError, withHint } from "../schema/errors.ts";
import type { Permission } from "../schema/operation.ts";
import { isUuid } from "../schema/values.ts";
import type { Context } from "./context.ts";
import { CredentialCache } from "./credential_cache.ts";
import { unauthorized } from "./jwt.ts";
import { errorFields } from "./log.ts";
import { EVENTS } from "./events.ts";

/* Finds the caller of a request by its API key or Bearer token, with cached look-ups. */

/** A caller with valid credentials, and what they permit. */
export interface AuthenticatedCaller extends Caller {
  may: Record<Exclude<Permission, "none">, boolean>;
  /** How the history of products names the caller. */
  by: string;
  /** The recipient whose view the caller gets, of a key that is bound to one. */
  recipient?: string | undefined;
}

/** An API key that was looked up by its public id. */
interface KnownKey {
  caller: AuthenticatedCaller;
  /** The SHA-256 hash of the full key. The key itself is not kept. */
  hash: string;
  /** The time of its expiry or revocation, in milliseconds since 1970, or null. */
  endsAt: number | null;
}

/** The cached results of look-ups of credentials. */
interface Caches {
  /** By public id. */
  keys: CredentialCache<KnownKey>;
  /** By organization and subject. */
  roles: CredentialCache<Role>;
  uses: KeyUses;
}

/** The caller for the look-up of an API key, whose organization is not known yet. */
const UNKNOWN_CALLER: Caller = { organizationId: "", name: "" };

/** A JWT in the compact serialization of JWS (RFC 7515, 7.1). */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The beginning of an API key in `Authorization`. */
const MISPLACED_KEY = /^(?:\w+ +)?cat_/i;

/** Finds the caller of a request: at once if its API key is known. */
export type Authenticator = (
  context: Context,
) => AuthenticatedCaller | Promise<AuthenticatedCaller>;

/**
 * Creates the function that finds the caller of a request. An API key takes precedence
 * over a Bearer token, which acts for the organization in `x-organization-id`
 * (specification, 5). Throws `UNAUTHORIZED`, `FORBIDDEN` for a subject that is no
 * member, and `SERVICE_UNAVAILABLE` if the credentials cannot be checked now.
 */
export function createAuthenticator(): Authenticator {
  const caches: Caches = {
    keys: new CredentialCache(),
    roles: new CredentialCache(),
    uses: new KeyUses(),
  };
  return (context) => {
    const { request, services } = context;
    const endSpan = services.telemetry.start("authentication");
    const apiKey = request.headers.get("x-api-key");
    try {
      const caller = apiKey === null ? byToken(context, caches) : byKey(context, caches, apiKey);
      if (caller instanceof Promise) return observed(caller, endSpan);
      endSpan();
      return caller;
    } catch (error) {
      endSpan(error);
      throw error;
    }
  };
}

async function observed<T>(
  running: Promise<T>,
  end: (error?: unknown) => void,
): Promise<T> {
  try {
    const result = await running;
    end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}

function byKey(
  context: Context,
  { keys, uses }: Caches,
  apiKey: string,
): AuthenticatedCaller | Promise<AuthenticatedCaller> {
  const id = API_KEY.exec(apiKey)?.[1];
  if (!id) {
    throw unauthorized(
      "The header x-api-key is not a complete API key: cat_, 12 characters, _, 43 characters",
    );
  }
  const known = keys.fresh(id);
  if (known) return callerOf(context, uses, apiKey, known);
  const { deadline, services: { database } } = context;
  return keys.find(id, deadline, async () => {
    const queries = database.for({ deadline, caller: UNKNOWN_CALLER });
    const [key] = await queries.lookUp(keyById(id));
    return key && knownKey(id, key);
  }).then((key) => callerOf(context, uses, apiKey, key));
}

/** The caller of a valid key. Throws `UNAUTHORIZED`. */
function callerOf(
  context: Context,
  uses: KeyUses,
  apiKey: string,
  key: KnownKey | undefined,
): AuthenticatedCaller {
  // A comparison of hashes may take variable time: it reveals nothing about 256 random bits.
  if (key?.hash !== hashOf(apiKey)) {
    throw unauthorized("The API key is not valid");
  }
  const { caller, endsAt } = key;
  if (endsAt !== null && endsAt <= Date.now()) {
    throw unauthorized("The API key has expired or been revoked");
  }
  context.log.api_key = caller.name;
  if (uses.add(caller.name)) recordUse(context, caller);
  return caller;
}

function knownKey(
  id: string,
  { organization_id, scope, key_hash, ends_at, recipient_id }: StoredKey,
): KnownKey {
  // A key of a recipient may only use operations with the permission `view`, whatever its scope.
  const isBound = recipient_id !== null;
  const may = {
    view: true,
    read: !isBound,
    write: !isBound && scope === "write",
    administer: false,
  };
  return {
    caller: {
      organizationId: organization_id,
      name: id,
      may,
      by: `api_key:${id}`,
      ...isBound && { recipient: recipient_id },
    },
    hash: key_hash,
    endsAt: ends_at,
  };
}

/** Records the use of a key in the background. It neither delays nor fails the request. */
function recordUse({ services, deadline }: Context, caller: Caller): void {
  services.database.for({ deadline })
    .write(touchKey(caller.organizationId, caller.name)).catch((error) =>
      services.log("warn", {
        message: EVENTS.keyUseNotRecorded,
        api_key: caller.name,
        cause: errorFields(error),
      })
    );
}

async function byToken(
  { request, deadline, services: { database, verifyToken } }: Context,
  { roles }: Caches,
): Promise<AuthenticatedCaller> {
  const authorization = request.headers.get("authorization") ?? "";
  if (MISPLACED_KEY.test(authorization)) {
    throw unauthorized(
      "An API key belongs in the header x-api-key, not in Authorization",
    );
  }
  const token = /^Bearer +(\S.*)$/i.exec(authorization)?.[1]?.trimEnd();
  if (!token) {
    throw unauthorized(
      "Credentials are required: x-api-key, or Authorization with a Bearer token",
    );
  }
  if (!verifyToken) {
    throw unauthorized(withHint("Bearer tokens are not accepted here", "use x-api-key"));
  }
  if (!JWT.test(token)) {
    const message =
      "The Bearer token is not a signed JWT: expected three parts in base64url, joined by dots";
    throw unauthorized(message, new Error(message));
  }
  const subject = await verifyToken(token);

  const organizationId = request.headers.get("x-organization-id")
    ?.toLowerCase();
  if (!organizationId) {
    throw unauthorized("A Bearer token requires x-organization-id");
  }
  const caller = { organizationId, name: subject };
  const membership = `${organizationId} ${subject}`;
  const role = isUuid(organizationId)
    ? roles.fresh(membership) ??
      await roles.find(membership, deadline, async () => {
        const queries = database.for({ deadline, caller });
        const [member] = await queries.lookUp(roleOf(subject));
        return member?.role;
      })
    : undefined;
  if (!role) {
    throw new ApiError(
      "FORBIDDEN",
      "The subject of the token is not a member of this organization",
    );
  }
  return {
    ...caller,
    by: `user:${subject}`,
    may: {
      view: true,
      read: true,
      write: role !== "viewer",
      administer: role === "admin" || role === "owner",
    },
  };
}

/** The API keys that were used in the current minute. */
class KeyUses {
  readonly #keys = new Set<string>();
  #minute = 0;

  /** Adds a use of the key. Returns whether it is the first of the minute. */
  add(key: string): boolean {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) this.#keys.clear();
    this.#minute = minute;
    const isFirst = !this.#keys.has(key);
    this.#keys.add(key);
    return isFirst;
  }
}
