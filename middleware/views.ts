import { viewOf } from "../db/credentials.ts";
import { isDeepStrictEqual } from "node:util";
import { ApiError, invalid } from "../schema/errors.ts";
import type { View } from "../schema/view.ts";
import type { AuthenticatedCaller } from "./auth.ts";
import type { Context } from "./context.ts";
import { CredentialCache } from "./credential_cache.ts";

/** Finds the view of a caller, or of the recipient that it names. */
export type ViewFinder = (
  context: Context,
  caller: AuthenticatedCaller,
  named: string | undefined,
) => Promise<View | undefined>;

/**
 * Creates the function that finds the view of a request: that of the caller's key, or of the recipient
 * in the parameter `recipient`. A view is looked up again after a few seconds, as credentials are.
 * Throws `FORBIDDEN` if a key of a recipient names another one, and `VALIDATION_ERROR` for one that
 * the organization does not have.
 */
export function createViewFinder(): ViewFinder {
  const views = new CredentialCache<View>();
  /** The last views. An equal one is the same object, so that its statements are composed once. */
  const known = new Map<string, View>();
  return async ({ deadline, services: { database } }, caller, named) => {
    const { organizationId, recipient: own } = caller;
    if (own && named && own !== named) {
      throw new ApiError("FORBIDDEN", "These credentials are for another recipient");
    }
    const id = own ?? named;
    if (!id) return;
    const key = `${organizationId} ${id}`;
    const view = views.fresh(key) ?? await views.find(key, deadline, async () => {
      const [found] = await database.for({ deadline, caller }).lookUp(viewOf(id));
      const last = known.get(key);
      known.delete(key);
      if (!found) return;
      const view = isDeepStrictEqual(last, found.view) ? last! : found.view;
      known.set(key, view);
      if (known.size > MAX_VIEWS) known.delete(known.keys().next().value!);
      return view;
    });
    if (view) return view;
    if (own) throw new ApiError("FORBIDDEN", "The recipient of these credentials does not exist");
    throw invalid("The query", [{
      parameter: "recipient",
      code: "unknown_reference",
      message: "The organization has no recipient with this id",
    }]);
  };
}

const MAX_VIEWS = 1_000;
