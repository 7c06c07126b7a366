import { getProduct } from "../db/products/read.ts";
import { replaceSalesRights } from "../db/products/sales_rights.ts";
import { replaceTerritories } from "../db/products/territories.ts";
import type { Answer, Authenticated } from "../middleware/context.ts";
import { parseJson } from "../middleware/json.ts";
import { SalesRightsBody } from "../schema/sales_rights_body.ts";
import { TerritoriesBody } from "../schema/territory_body.ts";
import { found, updating } from "./handlers.ts";

/** `GET /products/{id}/territories`. */
export const getTerritories = partOf("product_territories");

/** `PUT /products/{id}/territories`. */
export const putTerritories = updating(TerritoriesBody, replaceTerritories);

/** `GET /products/{id}/sales-rights`. */
export const getSalesRights = partOf("product_sales_rights");

/** `PUT /products/{id}/sales-rights`. */
export const putSalesRights = updating(SalesRightsBody, replaceSalesRights);

/** Responds with one array of the product. The ETag is the product's, as `If-Match` requires. */
function partOf(name: "product_territories" | "product_sales_rights") {
  return async (context: Authenticated): Promise<Answer> =>
    found(
      context,
      await getProduct(context.database, context.params.id!),
      (product) => {
        const { [name]: part } = parseJson(product) as Record<string, unknown>;
        return JSON.stringify(part);
      },
    );
}
