import process from "node:process";

/** The settings that the benchmark passes to each peer. */
export const { DATABASE_URL, ORGANIZATION_ID } = process.env;

export const PORT = Number(process.env.PORT);

/** Connections to the database. */
export const POOL = Number(process.env.POOL_SIZE);

/**
 * The service's statements: `get` reads a product, `list` reads a page, `store`
 * builds and stores the JSON of a new product. Each has its text and its parameters,
 * with `{id}` for a product's id, also within a parameter of JSON.
 */
export const STATEMENTS = JSON.parse(process.env.STATEMENTS);

/** The parameters of the statement for the product with this id. */
export function parametersFor(statement, id) {
  return statement.parameters.map((value) => {
    if (typeof value !== "object" || value === null) return value === "{id}" ? id : value;
    return JSON.parse(JSON.stringify(value).replaceAll("{id}", id));
  });
}

/** The service's envelope around JSON text. */
export function envelope(data, meta) {
  const tail = meta ? `,"meta":${JSON.stringify(meta)}` : "";
  return `{"success":true,"data":${data},"error":null${tail}}`;
}

/** The position of a page in its list. */
export function metaOf({ page = 1, limit = 50 }, total) {
  return {
    page: Number(page),
    limit: Number(limit),
    total: Number(total),
    total_pages: Math.ceil(total / limit),
  };
}
