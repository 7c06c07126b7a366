import type { DatabaseSettings, Queries } from "../../../db/database.ts";
import { openInstalledDatabase } from "./fresh_database.ts";
import { type App, openApp, SETTINGS } from "./harness.ts";
import type { Organization } from "./organization.ts";

/** The service with a private database, so that a test can change what all organizations share. */
export async function openOwnApp(
  settings: Partial<DatabaseSettings> = {},
): Promise<App> {
  if (!SETTINGS.url) return await openApp({}, settings);
  const fresh = await openInstalledDatabase();
  const app = await openApp({}, { ...settings, url: fresh.settings.url });
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

/** The number of operations that run or wait in the service. */
export function operationsIn({ database: { load } }: App): number {
  return load.used + load.waiting;
}

/** The database operations of a request of the organization. */
export function operationsOf(app: App, org: Organization): Queries {
  return app.database.for({
    deadline: performance.now() + 60_000,
    caller: { organizationId: org.id, name: "test" },
  });
}
