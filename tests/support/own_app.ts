import type { DatabaseSettings, Operations } from "../../db/database.ts";
import { openFreshDatabase } from "./fresh_database.ts";
import { type App, openApp, type Organization, SETTINGS } from "./harness.ts";

/** The service over a database that no other test has: what all organizations share may be changed. */
export async function openOwnApp(
  settings: Partial<DatabaseSettings> = {},
): Promise<App> {
  if (!SETTINGS.url) return await openApp({}, settings);
  const fresh = await openFreshDatabase();
  const app = await openApp({}, { ...settings, url: fresh.settings.url });
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

/** What a request of the organization may do with the database. */
export function operationsOf(app: App, org: Organization): Operations {
  return app.database.until(performance.now() + 60_000, {
    organizationId: org.id,
    name: "test",
  });
}
