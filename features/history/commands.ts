import { escapeControls } from "../../schema/control_characters.ts";
import { UNPACED } from "../../schema/turns.ts";
import type { Entry } from "../../schema/bodies.ts";
import { eraseContributor } from "./db/erase.ts";
import type { ShownChange } from "./db/differences.ts";
import { type HistoryPage, listHistory, listProductHistory } from "./db/history.ts";
import { type changedBy, historyCursorOf } from "./schema/history.ts";
import type { Queries } from "../../db/database.ts";
import {
  type Command,
  command,
  flag,
  mandatory,
  timestamp,
  uuid,
} from "../../db/command_line/arguments.ts";
import { openProgressBar, writeOut } from "../../db/command_line/output.ts";
import { undoHint } from "../../db/command_line/undo_hint.ts";
import { ImportEnded } from "../../db/import_ended.ts";
import { undoRequest } from "./db/undo.ts";
import { UNDO_OUTCOMES, type UndoReport } from "./schema/undo.ts";

/** `deno task history`: who changed what, and the erasure of a contributor. */
export const HISTORY_COMMANDS: Record<string, Command> = {
  "history": command({
    usage: "history --organization ID [--product ID] [--since TIME] [--json]",
    does:
      "Lists who changed products and in which request, newest first: all products, of the last day or since a time, or one product with its changes. With --json, prints one JSON object per line",
    args: {
      organization: uuid,
      product: (given?: string) => given === undefined ? given : uuid(given),
      since: timestamp,
      json: flag,
    },
    async run({ organization, product, since, json }, { connect }) {
      const database = await connect(organization);
      for await (const entries of pagesOf(database, product, since)) {
        const lines = entries.map((entry) => json ? entry : entryLine(JSON.parse(entry)));
        await writeOut(lines.map((line) => `${line}\n`).join(""));
      }
      return "";
    },
  }),
  "history undo": command({
    usage: "history undo --organization ID --request ID [--since TIME] [--dry-run]",
    does:
      "Reverts the changes that a request, or the run of a command, made to products. Fields that were changed later stay, and are listed. The last 7 days are searched, or those since a time. With --dry-run, prints the outcomes and writes nothing. After an interruption, the same call completes the undo",
    args: {
      organization: uuid,
      request: mandatory,
      since: timestamp,
      "dry-run": flag,
    },
    async run({ organization, request, since, "dry-run": isDryRun }, { connect, runId }) {
      const database = await connect(organization);
      using _hint = isDryRun ? undefined : undoHint(organization, runId);
      using bar = openProgressBar(isDryRun ? "Checking" : "Undoing", "products");
      const report = await undoRequest(() => database, { request_id: request, since }, {
        isDryRun,
        pace: UNPACED,
        progress: (products) => bar.show(products, {}),
      }).catch((error) => {
        if (!(error instanceof ImportEnded)) throw error;
        undoLines((error as ImportEnded<UndoReport>).report).forEach(bar.print);
        throw error.cause;
      });
      undoLines(report).forEach(bar.print);
      if (report.refused > 0) {
        throw new Error(`${report.refused} of ${report.products} products were refused`);
      }
      return isDryRun
        ? `Checked ${report.products} products: nothing was written`
        : `Undid ${request}: ${report.products} products`;
    },
  }),
  "history erase": command({
    usage: "history erase --organization ID --contributor ID",
    does:
      "Erases the old versions of all products that show a contributor, and prints their number. Current versions stay",
    args: { organization: uuid, contributor: uuid },
    async run({ organization, contributor }, { connect }) {
      const database = await connect(organization);
      const erased = await eraseContributor(database, contributor);
      return `Erased ${erased} versions`;
    },
  }),
};

/** A report as lines: its messages, and the number of products by outcome. */
function undoLines(report: UndoReport): string[] {
  const total = UNDO_OUTCOMES.map((outcome) => `${report[outcome]} ${outcome}`).join(", ");
  return [
    ...report.outcomes.flatMap(({ id, title, outcome, messages }) =>
      messages.map(({ severity, pointer, message }) =>
        `${id} ${title ?? ""}, ${outcome}: ${severity}: ${pointer} ${message}`
      )
    ),
    ...report.more_outcomes > 0 ? [`${report.more_outcomes} more products`] : [],
    report.dry_run ? `Nothing was written. It would be: ${total}` : total,
  ];
}

/** The pages of a history, newest first. The entries are JSON texts. */
async function* pagesOf(
  database: Queries,
  product: string | undefined,
  since: string | undefined,
): AsyncGenerator<string[]> {
  let after: string | undefined;
  for (let isMore = true; isMore;) {
    const page: HistoryPage = product
      ? await listProductHistory(database, product, { limit: 100, after }, UNPACED)
      : await listHistory(
        database,
        { limit: 100, since, after: after === undefined ? after : historyCursorOf(after) },
        UNPACED,
      );
    after = page.cursor;
    isMore = page.more;
    // The history of one product is read to its end, unless a time is given.
    const shown = page.entries.filter((entry) => !since || JSON.parse(entry).at >= since);
    yield shown;
    if (shown.length < page.entries.length) return;
  }
}

/** An entry in one line: when, what happened, to what, by whom in which request, and what changed. */
export function entryLine(entry: Entry): string {
  const { at, event, operation, request_id, changed_by, product, changes } = entry;
  const { kind, id, name } = changed_by as ReturnType<typeof changedBy>;
  const request = request_id && `request ${request_id}`;
  const who = [name ?? id ?? kind, operation, request].filter(Boolean).join(", ");
  const { title, product_code } = (product ?? {}) as Entry;
  const what = product ? `${product_code ?? ""} ${title ?? ""}` : "";
  const shown = (changes as ShownChange[] | null ?? []).map((change) =>
    change.kind === "changed"
      ? `${change.pointer}: ${valueText(change.from)} → ${valueText(change.to)}`
      : `${change.pointer} ${change.kind}`
  );
  return escapeControls(
    [`${at} ${event}`, what, `by ${who}`, shown.join("; ")].filter(Boolean)
      .join("  "),
  );
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
