import { escapeControls } from "../../schema/control_characters.ts";
import { UNPACED } from "../../schema/turns.ts";
import type { Missing } from "./schema/readiness.ts";
import { profileNames, profiles } from "./schema/profiles.ts";
import { type CheckedProduct, listReadiness } from "./db.ts";
import { command, flag, mandatory, uuid } from "../../db/command_line/arguments.ts";
import { openProgressBar, writeOut } from "../../db/command_line/output.ts";

/** `deno task readiness`: the products of an organization that a recipient may refuse. */
export const READINESS = command({
  usage: "readiness --organization ID --profile NAME [--json]",
  does:
    "Lists the products that a recipient may refuse by its public rules, each with what it lacks. With --json, lists all products, one JSON object per line",
  args: { organization: uuid, profile: profileNamed, json: flag },
  async run({ organization, profile, json }, { connect }) {
    const database = await connect(organization);
    // A bar would mix with lines on the same terminal.
    const isTerminal = Deno.stdout.isTerminal();
    using bar = openProgressBar("Checking", "products");
    let checked = 0;
    let ready = 0;
    let after: string | undefined;
    for (let more = true; more;) {
      const { products, meta } = await listReadiness(
        database,
        { profile, ready: json ? undefined : false, limit: 100, after },
        UNPACED,
      );
      const lines = products.map((product) =>
        json ? JSON.stringify(product) : productLine(product)
      );
      await writeOut(lines.map((line) => `${line}\n`).join(""));
      after = meta.cursor ?? undefined;
      more = meta.more;
      ready += meta.ready;
      checked += meta.checked;
      if (!isTerminal) bar.show(checked, {});
    }
    const count = `${ready} of ${checked} products are ready for ${profile.title}`;
    if (!json) return count;
    bar.print(count);
    return "";
  },
});

/** The profile of this name. */
function profileNamed(given?: string) {
  const found = profiles().get(mandatory(given));
  if (found) return found;
  throw new Error(`must be ${profileNames()}`);
}

/**
 * Prints a product in one line: its code, ISBN and title, and the reasons for which a recipient may
 * refuse it.
 */
function productLine(
  { product_code, isbn13, title, missing }: CheckedProduct,
): string {
  const messages = missing.filter(mayRefuse).map(({ message }) => message);
  // Several prices may lack the same element.
  const reasons = [...new Set(messages)].join("; ");
  return escapeControls(
    [product_code, isbn13 ?? "no ISBN", title, reasons].join("  "),
  );
}

function mayRefuse({ severity }: Missing): boolean {
  return severity === "required";
}
