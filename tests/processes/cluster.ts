import { issueKey, revokeKey } from "../../db/api_keys.ts";
import { createOrganization } from "../../db/organizations.ts";
import { openDatabase } from "../../db/database.ts";
import { script, type Sql } from "../support/script.ts";
import { SETTINGS } from "../support/harness.ts";
import { type Service, startService } from "./service.ts";

/** Some processes of the service on one database, which was empty before they started. */
export interface Cluster extends AsyncDisposable {
  services: Service[];
  /** SQL behind the services' back. */
  sql<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** A new organization with a key that may write. */
  organization(): Promise<{ id: string; key: string }>;
  issueKey(organizationId: string): Promise<string>;
  revokeKey(key: string): Promise<void>;
}

/** Makes a database next to the one of the tests, and starts so many processes on it at once. */
export async function startCluster(size: number): Promise<Cluster> {
  const name = `processes_${crypto.randomUUID().replaceAll("-", "")}`;
  const server = await openDatabase(SETTINGS);
  const on = (database: typeof server) =>
    database.until(performance.now() + 60_000);
  await script(on(server), (sql) => sql.unsafe(`create database ${name}`));

  const url = new URL(SETTINGS.url!);
  url.pathname = name;
  const services = await Promise.all(
    Array.from({ length: size }, () => startService(url.href)),
  );
  const database = await openDatabase({ ...SETTINGS, url: url.href });
  const cluster: Cluster = {
    services,
    sql: (work) => on(database).run(work),
    async organization() {
      const id = await cluster.sql((sql) => createOrganization(sql, "Test"));
      return { id, key: await cluster.issueKey(id) };
    },
    issueKey: (organizationId) =>
      cluster.sql((sql) =>
        issueKey(sql, { organizationId, name: "Test", scope: "write" })
      ),
    async revokeKey(key) {
      await cluster.sql((sql) => revokeKey(sql, key.slice(4, 16)));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        services.map((service) => service[Symbol.asyncDispose]()),
      );
      await database.close();
      await script(
        on(server),
        (sql) => sql.unsafe(`drop database ${name} with (force)`),
      );
      await server.close();
    },
  };
  return cluster;
}
