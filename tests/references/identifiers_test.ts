import { assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { assertDetails } from "../support/client/expect.ts";
import { pathOfRecords } from "../support/data/records.ts";

const GLN = { name_id_type: "06", id_value: "5012345000015" };

const OURS = { name_id_type: "01", id_type_name: "Ours", id_value: "17" };

/** What identifiers may not be, with the pointer below them and the code of the error. */
const REFUSED: [identifiers: unknown, pointer: string, code: string][] = [
  [null, "", "invalid_type"],
  [[GLN, { ...GLN, id_value: "2" }], "/1/name_id_type", "duplicate"],
  [[OURS, { ...OURS, id_value: "2" }], "/1/name_id_type", "duplicate"],
  [[{ ...OURS, id_type_name: null }], "/0/id_type_name", "required"],
  [[{ ...GLN, id_type_name: "GLN" }], "/0/id_type_name", "unexpected_name"],
  [[{ ...GLN, name_id_type: "99" }], "/0/name_id_type", "invalid_code"],
  [[{ id_value: "2" }], "/0/name_id_type", "required"],
  [[{ ...GLN, id_value: " " }], "/0/id_value", "blank"],
  [[{ name_id_type: "06" }], "/0/id_value", "required"],
  [[{ ...GLN, value: "2" }], "/0/value", "unknown_field"],
];

for (const table of ["publishers", "imprints"] as const) {
  const path = pathOfRecords(table);

  const it = testsOf(`${path} with identifiers`);

  it("has a type once, and type 01 once a name", async ({ org }) => {
    const identifiers = [GLN, OURS, { ...OURS, id_type_name: "Theirs" }];

    const { status, body } = await org.post(path, { name: "A", identifiers });

    assertEquals(status, 201);
    assertEquals(
      body.data.identifiers,
      identifiers.map((one) => ({ id_type_name: null, ...one })),
    );
  });

  it("refuses others with their pointers", async ({ org }) => {
    const { body } = await org.post(path, { name: "A", identifiers: [GLN] });
    const record = `${path}/${body.data.id}`;
    for (const [identifiers, pointer, code] of REFUSED) {
      const expected = [`/identifiers${pointer}`, code] as [string, string];
      assertDetails(await org.post(path, { name: "B", identifiers }), expected);
      assertDetails(await org.put(record, { identifiers }), expected);
    }
    assertEquals((await org.get(record)).body.data.identifiers.length, 1);
  });
}
