import { getSource } from "../onix/db/out/record_source.ts";
import { listReadiness, readinessOf } from "./db.ts";
import type { HandlerResponse } from "../../middleware/context.ts";
import type { Admitted } from "../../middleware/guard.ts";
import { ApiError } from "../../schema/errors.ts";
import { detailsOf, profileNames, profiles, summaryOf } from "./schema/profiles.ts";
import type { OneReadinessQuery, ReadinessQuery } from "./schema/query.ts";
import { followed, ok } from "../../middleware/responses.ts";
import { inTurns } from "../../schema/turns.ts";

/* The handlers of recipients' rules, and of the readiness of products. */

/** `GET /recipient-profiles`. */
export function listProfiles(): HandlerResponse {
  return ok(JSON.stringify(profiles().values().map(summaryOf).toArray()));
}

/** `GET /recipient-profiles/{name}`. */
export function getProfile({ params: { name } }: Admitted): HandlerResponse {
  const profile = profiles().get(name);
  if (profile) return ok(JSON.stringify(detailsOf(profile)));
  throw new ApiError(
    "NOT_FOUND",
    `No recipient profile has this name: there are ${profileNames()}`,
  );
}

/** `GET /products/{id}/readiness`. */
export async function get(
  context: Admitted<OneReadinessQuery>,
): Promise<HandlerResponse> {
  const { database, params, query: { profile }, shares, caller } = context;
  const source = await getSource(database, params.id);
  const pace = shares.parsing.pacer(caller);
  await pace();
  const readiness = await inTurns(readinessOf(source, profile), pace);
  return ok(JSON.stringify({ profile: profile.name, ...readiness }));
}

/** `GET /products/readiness`. */
export async function list(
  { database, query, shares, caller }: Admitted<ReadinessQuery>,
): Promise<HandlerResponse> {
  const pace = shares.parsing.pacer(caller);
  const { products, meta } = await listReadiness(database, query, pace);
  return followed(JSON.stringify(products), meta);
}
