import type * as v from "valibot";
import { Batch } from "../../features/batch/schema.ts";
import type { Entry } from "../../schema/bodies.ts";
import type { Operation, PathParameters } from "../../schema/operation.ts";
import { pathOfTable } from "../../schema/records.ts";
import { UUID_PATTERN } from "../../schema/values.ts";
import type { OperationId } from "./prose/prose.ts";
import { type SchemaName, SCHEMAS } from "./schemas.ts";
import { TABLES_IN_PATH } from "./tables.ts";

/** An operation whose prose and schemas the OpenAPI document has. */
export interface DescribedOperation extends Operation {
  id: OperationId;
  body?: BodyName;
  response?: SchemaName | `{${"Record" | "Code"}}Record${"" | "s"}Response`;
}

/** The syntax of each path parameter, as a regular expression. A path with another value is unknown. */
export const PATH_PARAMETERS: Record<keyof PathParameters, string> = {
  id: UUID_PATTERN,
  product_id: UUID_PATTERN,
  number: "[1-9][0-9]*",
  name: "[^/]+",
  key_id: "[0-9a-z]{12}",
  delivery_id: "msg_[0-9a-f]{32}",
  records: segmentsOf("records"),
  codes: segmentsOf("codes"),
};

function segmentsOf(parameter: string): string {
  return TABLES_IN_PATH[parameter]!.map((table) => pathOfTable(table).slice(1))
    .join("|");
}

/** Each operation of a batch is validated by itself, so `Batch` does not contain their schemas. */
const BODIES = { ...SCHEMAS, Batch };

/** The name of a body's schema. */
export type BodyName =
  | keyof typeof BODIES
  | `${"Create" | "Update"}{Record}`;

/** A valid body. */
export type BodyOf<N extends BodyName> = N extends keyof typeof BODIES
  ? v.InferOutput<typeof BODIES[N]>
  : Entry;

/** The schema that validates a body, whose name `expandTables` has written out. */
export function bodySchema(name: string): v.GenericSchema {
  return BODIES[name as keyof typeof BODIES];
}
