import EXAMPLES from "./examples.json" with { type: "json" };

/** A request under the API prefix to the demo organization, and its answer. */
export interface Exchange {
  summary: string;
  operation: string;
  request: { path: string; body?: unknown };
  status: number;
  // deno-lint-ignore no-explicit-any
  answer: any;
}

/** Exchanges by name. `deno task examples` sends the requests and writes them. */
const EXCHANGES: Record<string, Exchange> = EXAMPLES;

/** Bodies of successful requests of the operation, as Example Objects by name. */
export function exampleBodies(operation: string) {
  return examples(
    (exchange) => exchange.operation === operation && exchange.status < 400,
    ({ request }) => request.body,
  );
}

/** Answers to successful requests of the operation. */
export function exampleAnswers(operation: string) {
  return examples(
    (exchange) => exchange.operation === operation && exchange.status < 400,
    ({ answer }) => answer,
  );
}

/** Answers to the failed requests that are wanted. */
export function exampleFailures(isWanted: (exchange: Exchange) => boolean) {
  return examples(
    (exchange) => exchange.status >= 400 && isWanted(exchange),
    ({ answer }) => answer,
  );
}

function examples(
  isWanted: (exchange: Exchange) => boolean,
  valueOf: (exchange: Exchange) => unknown,
) {
  const wanted = Object.entries(EXCHANGES).filter(([, exchange]) =>
    isWanted(exchange)
  );
  if (wanted.length === 0) return undefined;
  return Object.fromEntries(
    wanted.map(([name, exchange]) => [
      name,
      { summary: exchange.summary, value: valueOf(exchange) },
    ]),
  );
}
