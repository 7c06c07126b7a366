import * as v from "valibot";
import {
  codeAnswer,
  CodeList,
  createBody,
  OnixCode,
  ProgramProduct,
  recordAnswer,
  updateBody,
} from "../record_bodies.ts";
import {
  OWN_TABLES,
  type OwnTable,
  RECORDS,
  SHARED_TABLES,
  type SharedTable,
} from "../records.ts";

type OwnType = typeof RECORDS[OwnTable]["type"];

type SharedType = typeof RECORDS[SharedTable]["type"];

/** The names of the schemas of one table. */
type RecordSchema =
  | `${"Create" | "Update"}${OwnType}`
  | `${OwnType | SharedType}Record${"" | "Answer" | "sAnswer"}`;

interface Envelopes {
  success: (data: v.GenericSchema) => v.GenericSchema;
  page: (entry: v.GenericSchema) => v.GenericSchema;
}

/** The schemas of all records, by name, in these envelopes. */
export function recordSchemas({ success, page }: Envelopes) {
  const own = OWN_TABLES.flatMap((table): [string, v.GenericSchema][] => {
    const { type } = RECORDS[table];
    const record = recordAnswer(table);
    return [
      [`Create${type}`, createBody(table)],
      [`Update${type}`, updateBody(table)],
      [`${type}RecordAnswer`, success(record)],
      [`${type}RecordsAnswer`, page(record)],
      [`${type}Record`, record],
    ];
  });
  const shared = SHARED_TABLES.flatMap((table): [string, v.GenericSchema][] => {
    const { type } = RECORDS[table];
    const record = codeAnswer(table);
    return [
      [`${type}RecordAnswer`, success(record)],
      [`${type}RecordsAnswer`, success(v.array(record))],
      [`${type}Record`, record],
    ];
  });
  return {
    ...Object.fromEntries([...own, ...shared]) as Record<
      RecordSchema,
      v.GenericSchema
    >,
    ProgramProductsAnswer: page(ProgramProduct),
    ProgramProduct,
    CodeListsAnswer: success(v.array(CodeList)),
    CodeList,
    OnixCodesAnswer: success(v.array(OnixCode)),
    OnixCode,
  };
}
