import { join } from "node:path";
import type { Contestant, Load, Scenario } from "./contest.ts";
import { call } from "./requests.ts";

/** `deno task export` and `import` of the smaller organization, with the start of the command. */
export const TRANSFER: readonly Scenario[] = [
  transfer(
    "EXPORT, products",
    (contestant) => measured(contestant, () => exported(contestant)),
  ),
  transfer("IMPORT new, products", async (contestant) => {
    const file = await exported(contestant);
    return await measured(
      contestant,
      () => imported(contestant, crypto.randomUUID(), file),
    );
  }),
  transfer("IMPORT again, products", async (contestant) => {
    const [file, id] = [await exported(contestant), crypto.randomUUID()];
    await imported(contestant, id, file);
    return await measured(contestant, () => imported(contestant, id, file));
  }),
];

function transfer(name: string, run: Scenario["run"]): Scenario {
  return { name, clients: 1, isCommand: true, run };
}

async function exported({ data }: Contestant): Promise<string> {
  const file = join(data.folder, "export.ndjson");
  const { id } = data.small;
  const text = await data.command("export", "--organization", id);
  await Deno.writeTextFile(file, text);
  return file;
}

function imported(
  { data }: Contestant,
  id: string,
  file: string,
): Promise<unknown> {
  return data.command("import", "--organization", id, file);
}

async function measured(
  { origin, data: { small } }: Contestant,
  work: () => Promise<unknown>,
): Promise<Load> {
  const path = "/products?limit=1";
  const { meta } = await call(origin, small.key, "GET", path);
  const start = performance.now();
  await work();
  const rate = meta.total / (performance.now() - start) * 1_000;
  return { count: meta.total, rate };
}
