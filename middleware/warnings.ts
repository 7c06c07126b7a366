import type { Caller } from "../db/connections/queue.ts";
import { MAX_ERRORS } from "../schema/errors.ts";
import { warningsOf } from "../schema/ignored.ts";
import { parseExact } from "../schema/numbers.ts";
import type { Context, HandlerResponse } from "./context.ts";

/**
 * Adds warnings to a response: about ignored fields of the body whose value differs from the
 * response, and those that the handler has collected.
 */
export async function withWarnings(
  context: Context & { caller: Caller },
  response: HandlerResponse,
): Promise<HandlerResponse> {
  const { ignored, warnings: collected = [], shares } = context;
  const { body } = response;
  if (typeof body !== "string" || !ignored && collected.length === 0) return response;
  const otherwise = ignored
    ? await shares.parsing.run(context, () => {
      const { data } = parseExact(body) as { data: unknown };
      return warningsOf(ignored, data);
    })
    : [];
  const warnings = [...otherwise, ...collected].slice(0, MAX_ERRORS);
  if (warnings.length === 0) return response;
  const envelope = body.slice(0, -"}".length);
  return {
    ...response,
    body: `${envelope},"warnings":${JSON.stringify(warnings)}}`,
  };
}
