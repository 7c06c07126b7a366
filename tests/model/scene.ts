import type { App, Organization } from "../support/app/harness.ts";
import type { Catalogue, Entry, Product, World } from "./catalogue.ts";
import type { Refused } from "./arbitraries.ts";
import { type Names, recordsOf } from "./world.ts";

/** One of the two organizations: its client and its model. */
export interface Side {
  client: Organization;
  catalogue: Catalogue;
  ids: Names["ids"];
  /** The ids of all products ever created. */
  created: string[];
}

/** Two new organizations of the service. */
export interface Scene {
  app: App;
  sides: Side[];
  codes: Names["ids"];
  world: World;
}

/** Two organizations without products. `codes` are the shared lists. */
export async function openScene(app: App, codes: Names): Promise<Scene> {
  const world: World = new Map(codes.world);
  const sides: Side[] = [];
  for (let i = 0; i < 2; i++) {
    const client = await app.organization();
    const records = await recordsOf(app, client);
    for (const [id, reference] of records.world) world.set(id, reference);
    sides.push({
      client,
      catalogue: {
        organization: client.id,
        products: new Map(),
        forms: new Map(),
        programmed: new Set(),
      },
      ids: records.ids,
      created: [],
    });
  }
  return { app, sides, codes: codes.ids, world };
}

/** The input of a step as sent: names replaced by ids, with invalid values. */
export function resolved(
  { sides, codes }: Scene,
  { by, input }: { by: number; input: Entry },
  product?: Product,
): { body: Entry; refused: [pointer: string, code: string][] } {
  const refused: [string, string][] = [];

  function idOf(name: string): string | undefined {
    const [owner = "", array = "", i = ""] = name.slice(1).split(".");
    switch (owner) {
      case "mine":
        return sides[by]!.ids[array];
      case "theirs":
        return sides[1 - by]!.ids[array];
      case "row":
        return product?.arrays[array]?.[Number(i)]?.id as string | undefined;
      default:
        return codes[name.slice(1)];
    }
  }

  function walk(value: unknown, at: string): unknown {
    if (typeof value === "string" && value.startsWith("@")) {
      return idOf(value) ?? crypto.randomUUID();
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      return value.map((item, i) => walk(item, `${at}/${i}`));
    }
    if ("refused" in value) {
      const { refused: sent, code } = value as Refused;
      refused.push([at, code]);
      return sent;
    }
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, inner]) => [key, walk(inner, `${at}/${key}`)]),
    );
  }

  return { body: walk(input, "") as Entry, refused };
}
