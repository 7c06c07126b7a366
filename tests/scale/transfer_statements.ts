import { uuidv7 } from "../../db/uuid.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { recorded, textsInto } from "../support/app/recording.ts";
import {
  commandsOn,
  DEMO_ORGANIZATION,
  exported,
  fillDemo,
  imported,
} from "../support/client/transfer.ts";

/** Every statement of `deno task export` and `deno task import` for NDJSON. */
export async function transferStatements(): Promise<Set<string>> {
  await using app = await openOwnApp();
  await fillDemo(commandsOn(app)());
  const statements = new Set<string>();
  for (const isDistributed of [false, true]) {
    const database = recorded(app.database, textsInto(statements), { isDistributed });
    const on = commandsOn({ ...app, database });
    const text = await exported(on(DEMO_ORGANIZATION));
    const changed = text.replaceAll(/"(title|name)":"/g, "$&New ");
    // Into itself, and into an organization that is not there.
    for (const id of [DEMO_ORGANIZATION, uuidv7()]) {
      await imported(on(id), text);
      await imported(on(id), changed, { rename: true });
    }
  }
  return statements;
}
