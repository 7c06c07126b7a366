import EXAMPLES from "./examples.json" with { type: "json" };

/*
 * The examples of the OpenAPI document: recorded requests to the demo organization, and their
 * responses.
 */

/** A request to the demo organization, and its response. The path is relative to the API prefix. */
export interface Exchange {
  summary: string;
  operation: string;
  request: { path: string; body?: unknown };
  status: number;
  // deno-lint-ignore no-explicit-any
  response: any;
}

/** Exchanges by name. `deno task examples` records them. */
const EXCHANGES: Record<string, Exchange> = EXAMPLES;

/** Request bodies of the operation's successful exchanges, as Example Objects by name. */
export function exampleBodies(operation: string) {
  return examples(
    (exchange) => exchange.operation === operation && exchange.status < 400,
    ({ request }) => request.body,
  );
}

/** Response bodies of the operation's exchanges with this status. */
export function exampleResponses(operation: string, status: number) {
  return examples(
    (exchange) => exchange.operation === operation && exchange.status === status,
    ({ response }) => response,
  );
}

/** Response bodies of the failed exchanges that satisfy the predicate. */
export function exampleFailures(isWanted: (exchange: Exchange) => boolean) {
  return examples(
    (exchange) => exchange.status >= 400 && isWanted(exchange),
    ({ response }) => response,
  );
}

/**
 * The value of a parameter in the path of a request to the demo organization. Undefined
 * for a new resource, until its examples are recorded.
 */
export function examplePathParameter(
  path: string,
  name: string,
): string | undefined {
  if (name === "delivery_id") {
    const { listDeliveries } = EXCHANGES;
    return listDeliveries!.response.data[0].id;
  }
  const isProduct = name === "product_id" || path.startsWith("/onix/");
  const one = isProduct ? "/products/{id}" : path.split(`{${name}}`)[0];
  return Object.values(EXCHANGES).find(({ operation }) =>
    operation === `GET ${one}` || operation === `GET ${one}{${name}}`
  )?.request.path.split("/").at(-1);
}

function examples(
  isWanted: (exchange: Exchange) => boolean,
  valueOf: (exchange: Exchange) => unknown,
) {
  const wanted = Object.entries(EXCHANGES)
    .filter(([, exchange]) => isWanted(exchange))
    .map(([name, exchange]) => {
      return [name, { summary: exchange.summary, value: valueOf(exchange) }];
    });
  return wanted.length > 0
    ? Object.fromEntries(wanted) as Record<
      string,
      { summary: string; value: unknown }
    >
    : undefined;
}
