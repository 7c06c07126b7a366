import { writeWorkbook } from "../../../features/sheets/schema/workbook/write.ts";
import type { ExampleRequest } from "./request.ts";

/** A sheet as a workbook. */
const BOOK = new Uint8Array(
  await new Response(ReadableStream.from(writeWorkbook(sheet()) as AsyncIterable<Uint8Array>))
    .arrayBuffer(),
);

async function* sheet() {
  yield await Promise.resolve([["isbn13", "page_count"], ["978-0141439518", "448"]]);
}

/** The requests for sheets. */
export const SHEETS: Record<string, ExampleRequest> = {
  exportSheet: {
    summary: "Titles and pages",
    operation: "GET /csv/products",
    path: "/csv/products?columns=isbn13,title,page_count&search=persepolis",
  },
  importSheet: {
    summary: "A changed number of pages, and a fault, without writing",
    operation: "POST /csv/products",
    path: "/csv/products?dry_run=true",
    headers: { "content-type": "text/csv" },
    body: "isbn13,page_count\r\n978-0141439518,448\r\n978-0000000000,many\r\n",
  },
  importSheetMendable: {
    summary: "The same, with the refused row to be mended",
    operation: "POST /csv/products",
    path: "/csv/products?dry_run=true",
    headers: { "content-type": "text/csv", accept: "text/csv" },
    body: "isbn13,page_count\r\n978-0141439518,448\r\n978-0000000000,many\r\n",
  },
  importWorkbook: {
    summary: "A changed number of pages, without writing",
    operation: "POST /xlsx/products",
    path: "/xlsx/products?dry_run=true",
    headers: {
      "content-type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    },
    body: BOOK,
  },
};
