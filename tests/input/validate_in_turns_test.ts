import { assertEquals } from "@std/assert";
import * as v from "valibot";
import { CreateProduct, pathBody, UpdateProduct } from "../../schema/bodies.ts";
import { pointerTo } from "../../schema/errors.ts";
import { LINE_KINDS } from "../../schema/lines.ts";
import { ARRAYS } from "../../schema/product.ts";
import { inTurns } from "../../schema/turns.ts";
import { validateEntries } from "../../schema/validate_in_turns.ts";
import { LARGEST } from "../support/data/largest.ts";

/* A body that was validated in turns has the same values and the same errors as another. */

const SCHEMAS: [what: string, schema: v.GenericSchema, isPath?: true][] = [
  ["POST", CreateProduct],
  ["PUT", UpdateProduct],
  ["a line", LINE_KINDS.get("product")!.schema],
  ["PUT of territories", pathBody(ARRAYS.product_territories), true],
];

type Any = Record<string, unknown>;

/** Changes that make some entries of all arrays invalid, or none. */
const FAULTS: Record<string, (entry: Any, i: number) => void> = {
  "without faults": () => {},
  "unknown fields": (entry, i) => i % 97 === 3 && Object.assign(entry, { unknown: 1 }),
  "values of other types": (entry, i) => {
    if (i % 31 === 5) {
      for (const name in entry) if (!Array.isArray(entry[name])) entry[name] = [{}];
    }
  },
  "faults in all": (entry) => void Object.assign(entry, { unknown: 1 }),
  "ids": (entry, i) => i % 50 === 1 && Object.assign(entry, { id: "1" }),
};

for (const [what, schema, isPath] of SCHEMAS) {
  for (const [fault, change] of Object.entries(FAULTS)) {
    Deno.test(`Validation in turns is that of ${what}: ${fault}`, async () => {
      for (const [name, bodyOf] of Object.entries(LARGEST)) {
        const make = () => {
          const all = { id: crypto.randomUUID(), title: "A", ...bodyOf("A") };
          let count = 0;
          changeEntries(all, (entry) => void change(entry, count++));
          return isPath ? (all as Any).product_territories : { ...all, id: undefined };
        };
        const [one, other] = [make(), make()];
        await inTurns(validateEntries(schema, one), () => {});

        assertEquals(shown(v.safeParse(schema, one)), shown(v.safeParse(schema, other)), name);
      }
    });
  }
}

function changeEntries(value: unknown, change: (entry: Any) => void): void {
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return;
  for (const below of Object.values(value)) {
    changeEntries(below, change);
    if (Array.isArray(value) && typeof below === "object") change(below as Any);
  }
}

function shown({ output, issues }: v.SafeParseResult<v.GenericSchema>): unknown {
  return [
    JSON.stringify(output),
    issues?.map((issue) => `${pointerTo(issue)} ${issue.message}`),
  ];
}
