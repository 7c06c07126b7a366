import type { Caller } from "../db/connections/queue.ts";
import { warningsOf } from "../schema/ignored.ts";
import { parseExact } from "../schema/numbers.ts";
import type { Context, HandlerResponse } from "./context.ts";

/** The response with warnings about ignored fields of the body of which it says something else. */
export async function withWarnings(
  context: Context & { caller: Caller },
  response: HandlerResponse,
): Promise<HandlerResponse> {
  const { ignored, shares } = context;
  const { body } = response;
  if (!ignored || typeof body !== "string") return response;
  const warnings = await shares.parsing.run(context, () => {
    const { data } = parseExact(body) as { data: unknown };
    return warningsOf(ignored, data);
  });
  if (warnings.length === 0) return response;
  const envelope = body.slice(0, -"}".length);
  return {
    ...response,
    body: `${envelope},"warnings":${JSON.stringify(warnings)}}`,
  };
}
