import type { ExampleRequest } from "./request.ts";

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
};
