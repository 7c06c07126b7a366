import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import postgres from "postgres";
import { doctor } from "../../db/doctor/doctor.ts";
import { pause } from "../../db/connections/deadline.ts";
import { Copy } from "../support/client/copy.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { startCluster } from "../support/servers/cluster.ts";
import { isPossible } from "./scene.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test(
  { ...TIMED, name: "A prepared transaction", ignore: !isPossible },
  async ({ step: it }) => {
    await using cluster = await startCluster({ max_prepared_transactions: 2 });
    await using app = await openApp({}, { ...SETTINGS, url: cluster.url });
    await using stack = new AsyncDisposableStack();
    const session = postgres(cluster.url, { max: 1, fetch_types: false });
    stack.defer(() => session.end({ timeout: 1 }));
    const org = await app.organization();
    const held = await org.create();
    const other = await org.create();
    const copy = new Copy(org, app);
    await copy.catchUp();

    async function prepare(title: string): Promise<void> {
      await session.unsafe(`
      begin;
      update products set title = '${title}' where id = '${held.id}';
      prepare transaction 'held'
    `);
      await org.put(other.path, { title: `Beside ${title}` });
    }

    await it("holds the feed up until it is committed", async () => {
      await prepare("Emma");
      const { changes } = await copy.read();
      await session`commit prepared 'held'`;

      assertEquals(changes, []);
      assertEquals((await copy.catchUp()).length, 2);
      await copy.assertComplete();
    });

    await it("is named by deno task doctor with both ways out, after a session that stays open", async () => {
      const report = async () =>
        (await doctor((name) => name === "DATABASE_URL" ? cluster.url : undefined)).text.replaceAll(
          /\s+/g,
          " ",
        );
      const open = postgres(cluster.url, { max: 1, fetch_types: false });
      stack.defer(() => open.end({ timeout: 1 }));
      await open.unsafe("begin; select pg_current_xact_id()");
      await pause(2_000);
      await prepare("Persuasion");
      // The doctor leaves out what has just begun.
      await pause(10_500);

      const first = await report();
      await open`rollback`;
      const second = await report();
      await session`rollback prepared 'held'`;

      assertMatch(first, /has been writing for \d/);
      assertStringIncludes(first, "select pg_terminate_backend(");
      assertStringIncludes(
        second,
        "the feed of changes waits for it -> End it: commit prepared 'held' or rollback prepared 'held', in the database postgres",
      );
    });

    await it("of another role is named by deno task doctor, too", async () => {
      const { password } = new URL(cluster.url);
      const as = (user: string) => Object.assign(new URL(cluster.url), { username: user }).href;
      await session.unsafe(`
        create role catalogue login password '${password}';
        grant all on all tables in schema public to catalogue;
        create role loader login password '${password}'
      `);
      const loader = postgres(as("loader"), { max: 1, fetch_types: false });
      stack.defer(() => loader.end({ timeout: 1 }));
      const [held] = await loader.unsafe<{ pid: number }[]>(
        "begin; select pg_backend_pid() as pid, pg_current_xact_id()",
      ).then((replies) => replies.flat());
      const findingOf = async () => {
        const { text } = await doctor(
          (name) => name === "DATABASE_URL" ? as("catalogue") : undefined,
          { json: true },
        );
        const findings: Record<string, unknown>[] = JSON.parse(text);
        return findings.find(({ subject }) => subject === "changes");
      };

      const waiting = await findingOf();
      await loader`rollback`;

      assertEquals(waiting, {
        subject: "changes",
        ok: false,
        finding: `Session ${
          held!.pid
        } of the role loader and the database postgres is writing: the feed of changes waits for it`,
        advice: `End it, as that role or a superuser: select pg_terminate_backend(${
          held!.pid
        }). Members of pg_read_all_stats see since when it writes: grant pg_read_all_stats to catalogue`,
      });
      assertEquals(await findingOf(), {
        subject: "changes",
        ok: true,
        finding: "The feed waits for no transaction",
      });
    });

    await it("leaves nothing in the feed when rolled back", async () => {
      assertEquals((await copy.catchUp()).length, 1);
      await copy.assertComplete();
    });
  },
);
