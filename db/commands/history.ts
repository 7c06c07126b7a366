import { escapeControls } from "../../schema/control_characters.ts";
import type { Entry } from "../../schema/bodies.ts";
import { eraseContributor } from "../history/erase.ts";
import { type HistoryPage, listHistory, listProductHistory } from "../history/history.ts";
import { historyCursorOf } from "../../schema/history.ts";
import type { Queries } from "../database.ts";
import { type Command, command, flag, timestamp, uuid } from "./arguments.ts";
import { writeOut } from "./output.ts";

/** `deno task history`: who changed what, and the erasure of a contributor. */
export const HISTORY_COMMANDS: Record<string, Command> = {
  "history": command({
    usage: "history --organization ID [--product ID] [--since TIME] [--json]",
    does:
      "Lists who changed products, newest first: all of the last day or since a time, or one product with what changed; with --json one JSON object per line",
    args: {
      organization: uuid,
      product: (given?: string) => given === undefined ? given : uuid(given),
      since: timestamp,
      json: flag,
    },
    async run({ organization, product, since, json }, { connect }) {
      const database = await connect(organization);
      for await (const entries of pagesOf(database, product, since)) {
        const lines = entries.map((entry) => json ? JSON.stringify(entry) : entryLine(entry));
        await writeOut(lines.map((line) => `${line}\n`).join(""));
      }
      return "";
    },
  }),
  "history erase": command({
    usage: "history erase --organization ID --contributor ID",
    does:
      "Erases the versions of all products that show a contributor, except those that are shown now, and says how many",
    args: { organization: uuid, contributor: uuid },
    async run({ organization, contributor }, { connect }) {
      const database = await connect(organization);
      const erased = await eraseContributor(database, contributor);
      return `Erased ${erased} versions`;
    },
  }),
};

async function* pagesOf(
  database: Queries,
  product: string | undefined,
  since: string | undefined,
): AsyncGenerator<Entry[]> {
  let page: HistoryPage = { entries: [], cursor: null, more: true };
  while (page.more) {
    const { cursor } = page;
    page = product
      ? await listProductHistory(database, product, {
        limit: 100,
        after: cursor ?? undefined,
      })
      : await listHistory(database, {
        limit: 100,
        since,
        after: cursor === null ? undefined : historyCursorOf(cursor),
      });
    // A product's own history is read whole, unless a time is given.
    const shown = page.entries.filter(({ at }) => !since || at as string >= since);
    yield shown;
    if (shown.length < page.entries.length) return;
  }
}

interface ShownAuthor {
  kind: string;
  id: string | null;
  name: string | null;
}

interface ShownChange {
  pointer: string;
  kind: string;
  from: unknown;
  to: unknown;
}

/** An entry in one line: when, what happened, to what, by whom, and what changed. */
function entryLine(entry: Entry): string {
  const { at, event, operation, changed_by, product, changes } = entry;
  const { kind, id, name } = changed_by as ShownAuthor;
  const who = [name ?? id ?? kind, operation].filter(Boolean).join(", ");
  const { title, product_code } = (product ?? {}) as Entry;
  const what = product ? `${product_code ?? ""} ${title ?? ""}` : "";
  const said = (changes as ShownChange[] | null ?? []).map((change) =>
    change.kind === "changed"
      ? `${change.pointer}: ${valueText(change.from)} → ${valueText(change.to)}`
      : `${change.pointer} ${change.kind}`
  );
  return escapeControls(
    [`${at} ${event}`, what, `by ${who}`, said.join("; ")].filter(Boolean)
      .join("  "),
  );
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
