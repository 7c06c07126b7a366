import createProduct from "./examples/create_product.json" with {
  type: "json",
};
import createProductRefused from "./examples/create_product_refused.json" with {
  type: "json",
};
import createProductWhole from "./examples/create_product_whole.json" with {
  type: "json",
};
import deleteProduct from "./examples/delete_product.json" with {
  type: "json",
};
import deleteProductInProgram from "./examples/delete_product_in_program.json" with {
  type: "json",
};
import getProduct from "./examples/get_product.json" with { type: "json" };
import getProductUnknown from "./examples/get_product_unknown.json" with {
  type: "json",
};
import listProductsRefused from "./examples/list_products_refused.json" with {
  type: "json",
};
import listProducts from "./examples/list_products.json" with { type: "json" };
import unauthorized from "./examples/unauthorized.json" with { type: "json" };
import updateProduct from "./examples/update_product.json" with {
  type: "json",
};

/** A request under the API prefix and its answer, from the demo organization. */
export interface Exchange {
  summary: string;
  operation: string;
  request: { path: string; body?: unknown };
  status: number;
  // deno-lint-ignore no-explicit-any
  answer: any;
}

/** In an order in which they can be sent: what is updated and deleted was created before. */
export const EXCHANGES: Record<string, Exchange> = {
  unauthorized,
  createProduct,
  createProductWhole,
  createProductRefused,
  listProducts,
  listProductsRefused,
  getProduct,
  getProductUnknown,
  updateProduct,
  deleteProduct,
  deleteProductInProgram,
};

/** The bodies that the operation is sent, as Example Objects by name. */
export function exampleBodies(operation: string) {
  return examples(
    (exchange) => exchange.operation === operation && exchange.status < 400,
    ({ request }) => request.body,
  );
}

/** The answers of the operation when it succeeds. */
export function exampleAnswers(operation: string) {
  return examples(
    (exchange) => exchange.operation === operation && exchange.status < 400,
    ({ answer }) => answer,
  );
}

/** The answers to requests that failed, of those that are wanted. */
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
