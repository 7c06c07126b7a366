import { assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";

/*
 * The folder `libreoffice` has an export of `products.json` as LibreOffice 7.4 saved it, in English
 * and German: the workbook as a workbook and as CSV, and the CSV as CSV. Each is unchanged in every
 * row.
 */

const FOLDER = new URL("libreoffice/", import.meta.url);

const TYPES: Record<string, string> = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

const it = testsOf("A sheet that LibreOffice has saved");

it("comes back unchanged", async ({ org, app }) => {
  const products = JSON.parse(await Deno.readTextFile(new URL("products.json", FOLDER)));
  for (const { product_territories, ...body } of products) {
    const { path } = await org.create(body);
    if (product_territories) await org.put(`${path}/territories`, product_territories);
  }
  const names = ["en.csv", "de.csv", "en.xlsx", "de.xlsx", "en_workbook.csv", "de_workbook.csv"];
  for (const name of names) {
    const ending = name.split(".")[1]!;
    const { status, text, body } = await app.send(`/api/${ending}/products`, {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": TYPES[ending]! },
      body: await Deno.readFile(new URL(name, FOLDER)),
    });
    assertEquals(status, 200, `${name}: ${text}`);
    const { rows, unchanged, warnings } = body.data;
    assertEquals([rows, unchanged, warnings], [products.length, products.length, 0], text);
  }
});
