import {
  imported,
  notSentOf,
  read,
  writeRecord,
} from "./tests/onix/support.ts";
import { readRecord } from "./schema/onix/mapping/incoming.ts";
import { toStored } from "./tests/onix/support.ts";
for (const f of Deno.args) {
  console.log("=====", f.split("/").at(-1));
  let header: any, release: any;
  for (const p of await read([await Deno.readFile(f)]) as any[]) {
    if (p.kind === "header") ({ header, release } = p);
    if (p.kind !== "product") continue;
    const r = readRecord(p.product, header) as any;
    console.log("--", r.kind, r.reference);
    for (const m of r.messages) {
      console.log(
        "  ",
        m.severity,
        m.code,
        m.path,
        "|",
        String(m.value).slice(0, 60),
        "|",
        m.message.slice(0, 100),
      );
    }
    if (r.kind === "rejected") continue;
    console.log("  rights", JSON.stringify(r.product_sales_rights));
    console.log("  terr", JSON.stringify(r.product_territories)?.slice(0, 900));
    console.log(
      "  dates",
      r.body.publication_date,
      JSON.stringify(r.body.publishing_dates),
      JSON.stringify(r.body.extents),
      JSON.stringify(r.body.measures),
      JSON.stringify(r.linked).slice(0, 300),
    );
    console.log("  unmapped", r.unmapped.paths.join(" "));
    console.log("  notSent", notSentOf(r.record, release).join(" "));
    const { book, received } = imported(p.product, header);
    const out = toStored(writeRecord(book, received, "3.0").record);
    console.log(
      "  out",
      out.slice(out.indexOf("<PublishingDetail")).slice(0, 1500),
    );
  }
}
