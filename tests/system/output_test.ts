import { assert, assertEquals } from "@std/assert";
import { logLine, openOutput } from "../../middleware/log.ts";
import { eventually } from "../support/app/eventually.ts";

Deno.test("An output", async ({ step: it }) => {
  await it("writes all lines in order, even a few bytes at a time", async () => {
    const stream = { text: "", write: take(3) };
    const output = openOutput(stream);

    for (const line of ["one\n", "two\n", "three\n"]) output.write(line);

    assertEquals(await output.flush(), true);
    assertEquals(stream.text, "one\ntwo\nthree\n");
  });

  await it("writes lines that arrive during a write", async () => {
    const write = take(Infinity);
    const stream = {
      text: "",
      write(bytes: Uint8Array) {
        if (stream.text === "") output.write("second\n");
        return write.call(stream, bytes);
      },
    };
    const output = openOutput(stream);

    output.write("first\n");

    await eventually("first\nsecond\n", () => stream.text);
  });

  await it("drops lines of failed writes, and reports their number", async () => {
    let isFull = true;
    const write = take(Infinity);
    const stream = {
      text: "",
      write(bytes: Uint8Array) {
        return isFull ? Promise.reject(new Error("ENOSPC")) : write.call(stream, bytes);
      },
    };
    const output = openOutput(stream);

    output.write("lost\nlost\n");
    assertEquals(await output.flush(), true);
    output.write("lost\n");
    assertEquals(await output.flush(), true);
    isFull = false;
    // Without another line, too.
    await output.flush();
    const reported = stream.text;
    output.write("kept\n");
    await output.flush();

    assertEquals(parse(reported.trimEnd()).lines, 3);
    const [warning, kept] = stream.text.split("\n");
    const { level, message, lines } = parse(warning);
    assertEquals([level, message, lines, kept], [
      "warn",
      "Log lines were dropped",
      3,
      "kept",
    ]);
  });

  await it("waits for a stream that is full and does not block", async () => {
    let calls = 0;
    const write = take(Infinity);
    const stream = {
      text: "",
      write: (bytes: Uint8Array) =>
        ++calls === 1 ? Promise.reject(new Deno.errors.WouldBlock()) : write.call(stream, bytes),
    };

    assertEquals(await openOutput(stream).write("late\n"), true);
    assertEquals(stream.text, "late\n");
  });

  await it("starts a new line after a torn one", async () => {
    let calls = 0;
    const write = take(2);
    const stream = {
      text: "",
      write: (bytes: Uint8Array) =>
        ++calls === 2 ? Promise.reject(new Error("ENOSPC")) : write.call(stream, bytes),
    };
    const output = openOutput(stream);

    output.write("torn\n");
    await output.flush();
    output.write("kept\n");
    await output.flush();

    const [torn, warning, kept] = stream.text.split("\n");
    assertEquals([torn, parse(warning).lines, kept], ["to", 1, "kept"]);
  });

  await it("keeps at most a mebibyte for a stalled reader", async () => {
    let calls = 0;
    let resume = () => {};
    const stream = {
      text: "",
      write(bytes: Uint8Array) {
        calls++;
        stream.text += new TextDecoder().decode(bytes);
        return new Promise<number>((resolve) => {
          resume = () => resolve(bytes.length);
        });
      },
    };
    const output = openOutput(stream);
    output.write("first\n");
    await eventually(1, () => calls);

    for (let i = 0; i < 3_000; i++) output.write("x".repeat(1_023) + "\n");

    assertEquals(await output.flush(), false);
    assertEquals(calls, 1);
    await eventually(2, () => {
      if (calls === 1) resume();
      return calls;
    });
    resume();
    assertEquals(await output.flush(), true);
    assert(stream.text.length < 1_100_000);
    const [, warning] = stream.text.split("\n");
    assertEquals(parse(warning).lines, 1_976);
  });
});

Deno.test("A log line escapes characters that terminals interpret", () => {
  const path = "/\u001b[31m\u007f\u009b31m\u00a0é";

  const line = logLine("info", { path });

  assertEquals(parse(line).path, path);
  // deno-lint-ignore no-control-regex
  assertEquals(/[\0-\x1f\x7f-\x9f]/.test(line.trimEnd()), false);
});

/** Writes at most this number of bytes at a time. */
function take(most: number) {
  return function (this: { text: string }, bytes: Uint8Array) {
    const taken = bytes.subarray(0, most);
    this.text += new TextDecoder().decode(taken);
    return Promise.resolve(taken.length);
  };
}

function parse(line?: string): Record<string, unknown> {
  return JSON.parse(line!) as Record<string, unknown>;
}
