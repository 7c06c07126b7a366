import postgres from "postgres";
import { addMember } from "../../db/access.ts";
import { openReplica, type Replica } from "../../db/replica.ts";
import type { Reply } from "../support/client/envelope.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, send, SETTINGS } from "../support/app/harness.ts";
import { createOrganization, type Organization } from "../support/app/organization.ts";
import { type Cluster, startReplica } from "../support/servers/cluster.ts";
import { type Proxy, startProxy, through } from "../support/servers/proxy.ts";
import { DEADLINE_MS, type Scene } from "./scene.ts";

/** A scene's service with a replica of its database. */
export interface Follower extends AsyncDisposable {
  cluster: Cluster;
  /** The proxy between the service and the replica. */
  proxy: Proxy;
  replica: Replica;
  /** A superuser session on the replica, without service and proxy. */
  observer: postgres.Sql;
  /** The states of the replica that the service has logged: true means down. */
  changes: boolean[];
  organization(): Promise<Organization>;
  /** Sends a request with an API key. */
  get(key: string, path: string): Promise<Reply>;
  /** Sends a request with an API key to a second process. */
  getElsewhere(key: string, path: string): Promise<Reply>;
  /** Makes a user an editor of the organization, and sends a request as this user. */
  asEditor(organizationId: string): Promise<App["send"]>;
  /** Changes a product on the primary, without the service. */
  retitle(id: string, title: string): Promise<void>;
  /** Pauses WAL replay, and waits until it has paused. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Waits until the replica has replayed everything. */
  caughtUp(): Promise<void>;
}

/** Creates a replica of the scene's cluster, and waits until it has caught up. */
export async function startFollower(
  { app, cluster: primary, observer: ofPrimary }: Scene,
): Promise<Follower> {
  const cluster = await startReplica(primary);
  const proxy = startProxy(cluster.port);
  const changes: boolean[] = [];
  const replica = await openReplica({
    ...SETTINGS,
    url: through(cluster.url, proxy),
    statementTimeoutMs: DEADLINE_MS - 1_000,
  }, (isAway) => changes.push(isAway));
  const observer = postgres(cluster.url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  const verifyToken = (token: string) => Promise.resolve(token.split(".")[1]!);
  const [here, elsewhere] = [1, 2].map(() => app.variant({ replica, verifyToken })) as [
    App["handler"],
    App["handler"],
  ];
  const sendHere: App["send"] = (path, init) => send(here, path, init);

  const follower: Follower = {
    cluster,
    proxy,
    replica,
    observer,
    changes,
    organization: () => createOrganization({ send: sendHere, sql: app.sql }),
    get: (key, path) => sendHere(path, { headers: { "x-api-key": key } }),
    getElsewhere: (key, path) => send(elsewhere, path, { headers: { "x-api-key": key } }),
    async asEditor(organizationId) {
      const user = crypto.randomUUID();
      await app.database.for({
        deadline: performance.now() + DEADLINE_MS,
        caller: { organizationId, name: "command" },
      }).transaction((tx) => tx.commit(addMember(user, "editor")));
      return (path, init) =>
        sendHere(path, {
          ...init,
          headers: {
            authorization: `Bearer head.${user}.signature`,
            "x-organization-id": organizationId,
            "content-type": "application/json",
          },
        });
    },
    async retitle(id, title) {
      await ofPrimary`update products set title = ${title} where id = ${id}`;
    },
    async pause() {
      await observer`select pg_wal_replay_pause()`;
      await eventually([{ state: "paused" }], async () => [
        ...await observer`select pg_get_wal_replay_pause_state() as state`,
      ]);
    },
    async resume() {
      await observer`select pg_wal_replay_resume()`;
    },
    async caughtUp() {
      const [row] = await ofPrimary<{ position: string }[]>`
        select pg_current_wal_flush_lsn()::text as position
      `;
      await eventually([{ is_there: true }], async () => [
        ...await observer`
          select pg_last_wal_replay_lsn() >= ${row!.position}::pg_lsn as is_there
        `,
      ]);
    },
    async [Symbol.asyncDispose]() {
      await observer.end({ timeout: 1 });
      await replica.close(1);
      proxy[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
  await follower.caughtUp();
  return follower;
}
