import { assert, assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { sql, unprepared } from "../../db/connections/sql.ts";
import { ApiError } from "../../schema/errors.ts";
import { eventually } from "../support/app/eventually.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";

const STORM_MS = 3_000;

/** The number of notes per flight, of which the first is not prepared. */
const NOTES = 3;

faultTest("A pipeline", async (scene, { step: it }) => {
  const { app, observer, proxy } = scene;
  await observer`create table notes (flight int not null)`;

  const note = (flight: number) => sql`insert into notes values (${flight})`;
  const fly = (flight: number) =>
    app.database.for({ deadline: performance.now() + DEADLINE_MS }).transaction(
      (tx) =>
        tx.commit(
          unprepared(note(flight)),
          ...Array.from({ length: NOTES - 1 }, () => note(flight)),
        ),
    );
  const stored = async () => {
    const rows = await observer`
      select flight, count(*)::int as notes from notes group by flight
    `;
    return new Map(rows.map(({ flight, notes }) => [flight, notes]));
  };

  await it("sends BEGIN, statements and COMMIT in one round trip", async () => {
    await fly(1);
    await fly(2);

    proxy.holdAnswersTo = "begin read write";
    const flying = fly(3);
    flying.catch(() => {});
    await eventually(NOTES, async () => (await stored()).get(3));
    proxy.holdAnswersTo = undefined;

    const { code } = await assertRejects(() => flying, ApiError);
    assertEquals(code, "SERVICE_UNAVAILABLE");
    assertEquals((await stored()).get(3), NOTES);
    await scene.assertSound();
  });

  await it("is retried if its session ended before COMMIT", async () => {
    const { flying } = await observer.begin(async (sql) => {
      await sql`lock table notes in share mode`;
      const flying = fly(4);
      flying.catch(() => {});
      await eventually(1, async () => {
        await sql`select pg_stat_clear_snapshot()`;
        const { count } = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'catalogue' and wait_event_type = 'Lock'
        `;
        return count;
      });
      return { flying };
    });
    await flying;

    assertEquals((await stored()).get(4), NOTES);
    await scene.assertSound();
  });

  const storms = {
    // If a cancellation hits BEGIN, the following statements run outside a transaction.
    cancelled: async () => {
      await observer`
        do $$ begin
          for i in 1..100 loop
            perform pg_cancel_backend(pid) from pg_stat_activity where application_name = 'catalogue';
          end loop;
        end $$
      `;
    },
    killed: async () => {
      await pause(10);
      await observer`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'catalogue' and state <> 'idle'
      `;
    },
  };
  for (const [what, strike] of Object.entries(storms)) {
    await it(`is stored completely or not at all when ${what} at any point`, async () => {
      await observer`truncate notes`;
      let isOver = false;
      const acknowledged = new Set<number>();
      const failures = new Map<number, unknown>();

      async function storm(): Promise<void> {
        while (!isOver) await strike();
      }
      async function client(first: number): Promise<void> {
        for (let flight = first; !isOver; flight += 2) {
          await fly(flight).then(
            () => acknowledged.add(flight),
            (error) => failures.set(flight, error),
          );
        }
      }
      const running = [storm(), client(0), client(1)];
      await pause(STORM_MS);
      await eventually(
        true,
        () =>
          acknowledged.size > 0 &&
          (what !== "cancelled" || failures.size > 0),
      ).finally(() => isOver = true);
      await Promise.all(running);

      const notes = await stored();
      for (const flight of acknowledged) {
        assertEquals(notes.get(flight), NOTES);
      }
      for (const [flight, error] of failures) {
        const isInDoubt = error instanceof ApiError;
        const possible = isInDoubt ? [undefined, NOTES] : [undefined];
        assert(possible.includes(notes.get(flight)), `${error}`);
      }
      await scene.assertSound();
    });
  }

  await it("stores nothing if BEGIN fails", async () => {
    await observer`truncate notes`;
    // Simulates the statements that follow a cancelled BEGIN.
    await fly(1);
    const reading = app.database.for({
      deadline: performance.now() + DEADLINE_MS,
    });

    const error = await assertRejects(() => reading.scan(note(2)));

    assertEquals((error as { code?: string }).code, "25006");
    assertEquals(await stored(), new Map([[1, NOTES]]));
    await scene.assertSound();
  });
});
