import { getSource } from "../db/onix/record_source.ts";
import { listReadiness, readinessOf } from "../db/onix/readiness.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import { successText } from "../middleware/respond.ts";
import { ApiError } from "../schema/errors.ts";
import { detailsOf, profileNames, profiles, summaryOf } from "../schema/onix/profiles.ts";
import type { OneReadinessQuery, ReadinessQuery } from "../schema/onix/query.ts";
import { ok } from "./responses.ts";

/* The handlers of what recipients ask of products, and of what products lack for them. */

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
  const { database, params, query: { profile }, shares } = context;
  const { source } = await getSource(database, params.id);
  const readiness = await shares.parsing.run(
    context,
    () => readinessOf(source, profile),
  );
  return ok(JSON.stringify({ profile: profile.name, ...readiness }));
}

/** `GET /products/readiness`. */
export async function list(
  { database, query, shares, caller }: Admitted<ReadinessQuery>,
): Promise<HandlerResponse> {
  const pace = shares.parsing.pacer(caller);
  const { products, meta } = await listReadiness(database, query, pace);
  return { status: 200, body: successText(JSON.stringify(products), meta) };
}
