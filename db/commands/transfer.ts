import { Buffer } from "node:buffer";
import { escapeLines } from "../../schema/control_characters.ts";
import { readMessage } from "../../schema/onix/xml/read.ts";
import {
  type Release,
  RELEASES,
  TAGS,
  type Tags,
} from "../../schema/onix/rules/releases.ts";
import type { Outcome, Report } from "../../schema/onix/report/report.ts";
import type { Queries } from "../database.ts";
import { exportMessage } from "../onix/export.ts";
import { ImportEnded, importMessage } from "../onix/import.ts";
import { exportCatalogue } from "../transfer/export.ts";
import { importCatalogue } from "../transfer/import.ts";
import {
  type Command,
  command,
  cursor,
  flag,
  oneOf,
  required,
  uuid,
} from "./arguments.ts";
import { openProgressBar } from "./output.ts";

/**
 * `deno task export` and `deno task import`: an organization as an NDJSON file, or its
 * products as an ONIX message.
 */
export const TRANSFER_COMMANDS: Record<string, Command> = {
  "export": command({
    usage:
      "export --organization ID [--format onix [--release 3.0|3.1] [--tags reference|short] [--after CURSOR]] > FILE",
    does:
      "Writes an organization without its keys and members, as one JSON object per line; or its products as an ONIX message, or only the changes after the cursor that the last export printed",
    args: {
      organization: uuid,
      format: oneOf(["ndjson", "onix"], "ndjson"),
      release: oneOf<Release>(RELEASES, "3.1"),
      tags: oneOf<Tags>(TAGS, "reference"),
      after: cursor,
    },
    async run({ organization, format, ...message }, { connect }) {
      const isOnix = format === "onix";
      using bar = openProgressBar("Exporting", isOnix ? "records" : undefined);
      const database = await connect(organization);
      // A bar would mix with lines on the same terminal.
      const isTerminal = Deno.stdout.isTerminal();
      if (!isOnix) {
        await exportCatalogue(database, {
          // JSON strings may contain what a terminal interprets, also as escapes.
          write: (text) => writeOut(isTerminal ? escapeLines(text) : text),
          progress: isTerminal
            ? undefined
            : (written, total) => bar.show(written, { share: written / total }),
        });
        return "";
      }
      const next = await exportMessage(database, {
        ...message,
        write: (text) => writeOut(isTerminal ? escapeLines(text) : text),
        progress: isTerminal ? undefined : (records) => bar.show(records, {}),
      });
      if (next) bar.print(`For later changes: --after ${next}`);
      return "";
    },
  }),
  "import": command({
    usage: "import --organization ID [--rename] FILE",
    does:
      "Imports the output of export or an ONIX message from a file, or from standard input if it is -; can be repeated. Gives an existing organization the name in an NDJSON file only with --rename",
    args: { organization: uuid, rename: flag, "FILE": required },
    async run({ organization, rename, FILE: path }, { connect }) {
      using file = path === "-" ? undefined : await Deno.open(path);
      const size = file && (await file.stat()).size;
      const { isXml, bytes } = await recognized((file ?? Deno.stdin).readable);
      const database = await connect(organization);
      return isXml
        ? await importOnix(database, bytes, size)
        : await importLines(database, bytes, { rename, size });
    },
  }),
};

async function importLines(
  database: Queries,
  bytes: AsyncIterable<Uint8Array>,
  { rename, size }: { rename: boolean; size: number | undefined },
): Promise<string> {
  using bar = openProgressBar("Importing");
  bar.show(0, size ? { share: 0 } : { bytes: 0 });
  let refused = 0;
  let lines = 0;
  await importCatalogue(database, bytes, {
    rename,
    refused(number, reason) {
      refused++;
      bar.print(`Line ${number}: ${reason}`);
    },
    progress(done, bytes) {
      bar.show(lines = done, size ? { share: bytes / size } : { bytes });
    },
  });
  if (refused > 0) throw new Error(`${refused} of ${lines} lines were refused`);
  return `Imported ${lines} lines`;
}

async function importOnix(
  database: Queries,
  bytes: AsyncIterable<Uint8Array>,
  size: number | undefined,
): Promise<string> {
  using bar = openProgressBar("Importing", "records");
  let read = 0;
  const counted = async function* () {
    for await (const chunk of bytes) {
      read += chunk.length;
      yield chunk;
    }
  };
  try {
    const report = await importMessage(() => database, readMessage(counted()), {
      dryRun: false,
      pace: () => Promise.resolve(),
      progress: (records) =>
        bar.show(records, size ? { share: read / size } : { bytes: read }),
    });
    for (const line of linesOf(report)) bar.print(line);
    if (report.rejected > 0) {
      throw new Error(
        `${report.rejected} of ${report.records} records were rejected`,
      );
    }
    return `Imported ${report.records} records`;
  } catch (error) {
    if (!(error instanceof ImportEnded)) throw error;
    for (const line of linesOf(error.report)) bar.print(line);
    const { message, line } = error.cause as Error & { line?: number };
    throw new Error(line ? `Line ${line}: ${message}` : message, {
      cause: error.cause,
    });
  }
}

/** What a report says. */
function linesOf(report: Report): string[] {
  const { created, updated, unchanged, deleted, rejected, warnings } = report;
  const counts = { created, updated, unchanged, deleted, rejected, warnings };
  const total = Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`).join(", ");
  return [
    ...report.outcomes.flatMap(saidOf),
    ...report.more > 0 ? [`${report.more} more outcomes`] : [],
    total,
  ];
}

function saidOf({ line, record_reference, messages }: Outcome): string[] {
  const record = record_reference === null ? "" : ` (${record_reference})`;
  return messages.map(({ severity, path, value, message }) =>
    `Line ${line}${record}: ${severity}: ${path}${
      value === null ? "" : ` "${value}"`
    }: ${message}`
  );
}

/** Whether a file is XML: its first character is `<`, in any encoding. */
async function recognized(
  stream: ReadableStream<Uint8Array>,
): Promise<{ isXml: boolean; bytes: AsyncIterable<Uint8Array> }> {
  const reader = stream.getReader();
  const first: Uint8Array[] = [];
  let start: number | undefined;
  while (start === undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    first.push(value);
    start = value.find((byte) => !SKIPPED.has(byte));
  }
  async function* bytes() {
    yield* first;
    for (let next; !(next = await reader.read()).done;) yield next.value!;
  }
  return { isXml: start === "<".charCodeAt(0), bytes: bytes() };
}

/** White space, the bytes of byte order marks, and the zeros of UTF-16. */
const SKIPPED = new Set([
  ...Buffer.from("\0\t\n\r "),
  ...[0xef, 0xbb, 0xbf, 0xfe, 0xff],
]);

/** Writes to standard output. Returns false if its reader is gone. */
async function writeOut(text: string): Promise<boolean> {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let sent = 0; sent < bytes.length;) {
      sent += await Deno.stdout.write(bytes.subarray(sent));
    }
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return false;
    const { message } = error as Error;
    throw new Error(`The export cannot be written: ${message}`);
  }
}
