import { createOrganization, newKey, revokeKey } from "../../db/access.ts";
import postgres from "postgres";
import { openDatabase } from "../../db/database.ts";
import { type Session, sessionOf } from "../support/sql/script.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { type Service, startService } from "./service.ts";

/** Several processes of the service on one database, which was empty before they started. */
export interface Cluster extends AsyncDisposable {
  services: Service[];
  /** SQL without the service. */
  sql: Session;
  /** A new organization with a key that may write. */
  organization(): Promise<{ id: string; key: string }>;
  issueKey(organizationId: string): Promise<string>;
  revokeKey(key: string): Promise<void>;
}

/** Creates a database beside the tests' database, and starts this number of processes on it. */
export async function startCluster(size: number): Promise<Cluster> {
  const name = `processes_${crypto.randomUUID().replaceAll("-", "")}`;
  await administer(`create database ${name}`);

  const url = new URL(SETTINGS.url!);
  url.pathname = name;
  const services = await Promise.all(
    Array.from({ length: size }, () => startService(url.href)),
  );
  const database = await openDatabase({ ...SETTINGS, url: url.href });
  const cluster: Cluster = {
    services,
    sql: sessionOf({
      script: (work) =>
        database.for({ deadline: performance.now() + 60_000 }).script(work),
    }),
    async organization() {
      const [organization] = await cluster.sql<{ id: string }[]>`${
        createOrganization("Test")
      }`;
      const { id } = organization!;
      return { id, key: await cluster.issueKey(id) };
    },
    async issueKey(organizationId) {
      const { key, statement } = newKey({
        organizationId,
        name: "Test",
        scope: "write",
      });
      await cluster.sql`${statement}`;
      return key;
    },
    async revokeKey(key) {
      await cluster.sql`${revokeKey(key.slice(4, 16))}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        services.map((service) => service[Symbol.asyncDispose]()),
      );
      await database.close();
      await administer(`drop database ${name} with (force)`);
    },
  };
  return cluster;
}

/** CREATE and DROP DATABASE cannot run in a transaction. */
async function administer(statement: string): Promise<void> {
  const server = postgres(SETTINGS.url!, { max: 1 });
  await server.unsafe(statement);
  await server.end();
}
