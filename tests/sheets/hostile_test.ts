import { assert, assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("/csv/products of 64 MiB");

const MIB = 2 ** 20;

/** What a sheet begins with, what it repeats, and the line and the code of its error. */
const SHEETS: [head: string, part: string, line: number, code: string][] = [
  ["", ",", 1, "too_many"],
  ["isbn13,title\n", ",", 2, "too_many"],
  ["", '"', 1, "too_large"],
  ["isbn13,title\n", '"', 2, "too_large"],
  ['isbn13,title\n1,"', "x\n", 2, "too_large"],
  ["", "title,", 1, "too_many"],
  ["isbn13,title\n1,", "x", 2, "too_large"],
  ["isbn13\n", "\0", 2, "too_large"],
  ["isbn13\n", "\n", 1_048_578, "too_many"],
];

for (const [head, part, line, code] of SHEETS) {
  it(`is refused: ${JSON.stringify(head)}, then ${JSON.stringify(part)}`, async ({ org, app }) => {
    const block = new TextEncoder().encode(part.repeat(65_536 / part.length));
    let blocks = 0;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(head)),
      pull(controller) {
        if (++blocks < 1_023) controller.enqueue(block);
        else controller.close();
      },
    });
    const before = memory();
    let peak = before;
    const watch = setInterval(() => peak = Math.max(peak, memory()), 10);

    const { status, text, body: answer } = await app.send("/api/csv/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "text/csv" },
      body,
    }).finally(() => clearInterval(watch));

    assertEquals(status, 400, text);
    const [detail] = answer.error.details;
    assertEquals([detail.line, detail.code], [line, code], text);
    assertEquals((await org.get("/api/products")).body.meta.total, 0);
    // The bytes are kept. A million lines leave 300 MiB of garbage in a worker of tests, whose
    // heap may grow as V8 likes; records of as many bytes would take gigabytes.
    assert(Math.max(peak, memory()) < before + 640 * MIB, `${before} ${peak}`);
  });
}

function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
