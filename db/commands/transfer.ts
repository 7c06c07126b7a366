import { escapeLines } from "../../schema/control_characters.ts";
import { exportCatalogue } from "../transfer/export.ts";
import { importCatalogue } from "../transfer/import.ts";
import { type Command, command, flag, required, uuid } from "./arguments.ts";
import { openProgressBar } from "./output.ts";

/** `deno task export` and `deno task import`: an organization as an NDJSON file. */
export const TRANSFER_COMMANDS: Record<string, Command> = {
  "export": command({
    usage: "export --organization ID > FILE.ndjson",
    does:
      "Writes an organization without its keys and members, as one JSON object per line",
    args: { organization: uuid },
    async run({ organization }, { connect }) {
      using bar = openProgressBar("Exporting");
      const isTerminal = Deno.stdout.isTerminal();
      await exportCatalogue(await connect(organization), {
        // JSON strings may contain what a terminal interprets, also as escapes.
        write: (text) => writeOut(isTerminal ? escapeLines(text) : text),
        // A bar would mix with lines on the same terminal.
        progress: isTerminal
          ? undefined
          : (written, total) => bar.show(written, { share: written / total }),
      });
      return "";
    },
  }),
  "import": command({
    usage: "import --organization ID [--rename] FILE.ndjson",
    does:
      "Imports the output of export from a file, or from standard input if it is -; can be repeated. Gives an existing organization the name in the file only with --rename",
    args: { organization: uuid, rename: flag, "FILE.ndjson": required },
    async run({ organization, rename, "FILE.ndjson": path }, { connect }) {
      using file = path === "-" ? undefined : await Deno.open(path);
      const size = file && (await file.stat()).size;
      using bar = openProgressBar("Importing");
      bar.show(0, size ? { share: 0 } : { bytes: 0 });
      let refused = 0;
      let lines = 0;
      await importCatalogue(
        await connect(organization),
        (file ?? Deno.stdin).readable,
        {
          rename,
          refused(number, reason) {
            refused++;
            bar.print(`Line ${number}: ${reason}`);
          },
          progress(done, bytes) {
            bar.show(lines = done, size ? { share: bytes / size } : { bytes });
          },
        },
      );
      if (refused > 0) {
        throw new Error(`${refused} of ${lines} lines were refused`);
      }
      return `Imported ${lines} lines`;
    },
  }),
};

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
