import type * as v from "valibot";
import { list } from "./objects.ts";
import { SalesRightBody } from "./rights.ts";

/** The body of `PUT /products/{id}/sales-rights`: all sales rights of a product. */
export const SalesRightsBody = list(SalesRightBody, "id");

export type SalesRightsBody = v.InferOutput<typeof SalesRightsBody>;
