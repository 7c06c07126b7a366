import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import type { Organization } from "../support/app/organization.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";
import { processTest } from "../support/servers/processes.ts";

const RECORDS = 2_000;

processTest(
  "an import that is killed",
  2,
  async ({ app, services: [killed, other] }) => {
    const { key, get } = await app.organization();
    const written = () => totalOf(get);
    const records = Array.from(
      { length: RECORDS },
      (_, i) => record({ reference: `r${i}`, isbn: isbnOf(i) }),
    );
    const send = (origin: string, body: BodyInit) =>
      fetch(`${origin}/api/onix/products`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/xml" },
        body,
      });
    // The last records never arrive, so that some are left however late the process is killed.
    const begun = message(...records.slice(0, -200)).replace("</ONIXMessage>", "");
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(begun)),
    });

    const sending = send(killed!.origin, endless).then(() => true, () => false);
    await eventually(300, async () => Math.min(300, await written()));
    await killed!.kill();
    assertEquals(await sending, false);
    // PostgreSQL may still commit what the process sent last.
    await eventually(0, async () => {
      const busy = await app.sql`
        select from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
          and pid <> pg_backend_pid() and state <> 'idle'
      `;
      return busy.length;
    });
    const before = await written();
    const { data } = await (await send(other!.origin, message(...records))).json();

    assert(before >= 300 && before < RECORDS, `${before} were written`);
    assertEquals(data.records, RECORDS);
    assertEquals([data.unchanged, data.created], [before, RECORDS - before]);
    assertEquals([data.updated, data.rejected], [0, 0]);
    assertEquals(await written(), RECORDS);
  },
);

processTest(
  "an import whose service stops says what it has written",
  1,
  async ({ app, services: [stopped] }) => {
    const { key, get } = await app.organization();
    const written = () => totalOf(get);
    const records = Array.from(
      { length: 150 },
      (_, i) => record({ reference: `r${i}`, isbn: isbnOf(i) }),
    );
    const begun = message(...records).replace("</ONIXMessage>", "");
    const { hostname, port } = new URL(stopped!.origin);
    using connection = await Deno.connect({ hostname, port: Number(port) });
    const body = new TextEncoder().encode(begun);
    const head = new TextEncoder().encode(
      `POST /api/onix/products HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${key}\r\n` +
        `content-type: application/xml\r\ncontent-length: ${body.length + 1}\r\n\r\n`,
    );
    const writer = connection.writable.getWriter();
    await writer.write(head);
    await writer.write(body);
    // The last byte never arrives. A slow machine writes a first group of fewer than 100.
    await eventually(true, async () => await written() > 0);

    stopped!.signal("SIGTERM");
    let response = "";
    const decoder = new TextDecoder();
    for await (const chunk of connection.readable) {
      response += decoder.decode(chunk, { stream: true });
      if (response.endsWith("}")) break;
    }

    assert(response.startsWith("HTTP/1.1 503"), response);
    const { error } = JSON.parse(response.slice(response.indexOf("\r\n\r\n")));
    assertEquals(error.report.created, await written());
  },
);

async function totalOf(get: Organization["get"]): Promise<number> {
  return (await get("/api/products?limit=1")).body.meta.total;
}
