import * as v from "valibot";
import { FILTERS, type Filters } from "../../../schema/list_query.ts";
import { type Profile, profileNames, profiles } from "./profiles.ts";
import { limit } from "../../../schema/parameters.ts";
import { described, flag, Uuid } from "../../../schema/values.ts";

/* The parameters of the operations on readiness. */

function expectedProfile(): string {
  return `invalid_value: Expected one of ${profileNames()}`;
}

const profile = described(
  "The recipient: the name of one of `/recipient-profiles`.",
  v.pipe(
    v.string(expectedProfile),
    v.examples(["google-play"]),
    v.check((name) => profiles().has(name), expectedProfile),
    v.transform((name) => profiles().get(name)!),
  ),
);

/** The parameters of `GET /products/{id}/readiness`. */
export const ReadinessParameters = v.object({ profile });

export type OneReadinessQuery = v.InferOutput<typeof ReadinessParameters>;

/** The parameters of `GET /products/readiness`. */
export const ReadinessListParameters = v.object({
  profile,
  ready: described(
    "`true` lists only ready products, `false` only the others.",
    v.optional(flag()),
  ),
  after: described(
    "The `meta.cursor` of the last page. Without it, the list starts with the first product.",
    v.optional(Uuid),
  ),
  limit: described(
    "The maximum number of products. A limit above 100 counts as 100.",
    v.optional(limit(100), "50"),
  ),
  ...FILTERS,
});

/** The profile, and the products to check. */
export interface ReadinessQuery extends Filters {
  profile: Profile;
  ready?: boolean | undefined;
  after?: string | undefined;
  limit: number;
}
