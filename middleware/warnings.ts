import type { Caller } from "../db/connections/queue.ts";
import { MAX_ERRORS } from "../schema/errors.ts";
import { warningsOf } from "../schema/ignored.ts";
import { parseExact } from "../schema/numbers.ts";
import type { Context, HandlerResponse } from "./context.ts";

/**
 * The response with warnings about ignored fields of the body of which it says something else,
 * and about what the body says.
 */
export async function withWarnings(
  context: Context & { caller: Caller },
  response: HandlerResponse,
): Promise<HandlerResponse> {
  const { ignored, warnings: told = [], shares } = context;
  const { body } = response;
  if (typeof body !== "string" || !ignored && told.length === 0) return response;
  const otherwise = ignored
    ? await shares.parsing.run(context, () => {
      const { data } = parseExact(body) as { data: unknown };
      return warningsOf(ignored, data);
    })
    : [];
  const warnings = [...otherwise, ...told].slice(0, MAX_ERRORS);
  if (warnings.length === 0) return response;
  const envelope = body.slice(0, -"}".length);
  return {
    ...response,
    body: `${envelope},"warnings":${JSON.stringify(warnings)}}`,
  };
}
