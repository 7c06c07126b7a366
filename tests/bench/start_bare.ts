import { checkProducts } from "./same.ts";
import { type Service, startProcess } from "./service.ts";
import type { Subject } from "./subject.ts";

export const BARE = "bare handler";

/** Starts `bare.ts` on the subject's database. Throws if its products differ from the service's. */
export async function startBare(
  { url, dataset: { large }, scenarios: { get }, service }: Subject,
): Promise<Service> {
  const program = new URL("bare.ts", import.meta.url).pathname;
  const bare = await startProcess(BARE, ["deno", "run", "-A", program], {
    env: { DATABASE_URL: url, ORGANIZATION_ID: large.id },
    readyPath: get.path.replace("{n}", String(get.numbers[0])),
  });
  try {
    await checkProducts(service, bare, get);
  } catch (error) {
    await bare[Symbol.asyncDispose]();
    throw error;
  }
  return bare;
}
