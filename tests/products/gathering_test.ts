import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_WAITING, unavailable } from "../../db/connections/queue.ts";
import { pause } from "../../db/connections/deadline.ts";
import {
  MAX_TOGETHER,
  type Question,
  shared,
} from "../../db/connections/gathering.ts";
import type { Tx } from "../../db/connections/sql.ts";
import { ApiError } from "../../schema/errors.ts";
import { openApp } from "../support/harness.ts";

const MINUTE_MS = 60_000;

const PRODUCTS = "/api/products";

/** More than there are connections for look-ups, and more than may ask together. */
const MANY = 3 * MAX_TOGETHER;

Deno.test("Questions that wait together", async (t) => {
  await using app = await openApp({}, { poolSize: 2 });
  const ask = <Ask, Answer>(question: Question<Ask, Answer>) =>
    app.database.until(performance.now() + MINUTE_MS).lookUp(question);

  await t.step("are answered by few statements, each its own", async () => {
    const statements: number[] = [];
    const one = twice(statements);

    const answers = await Promise.all(numbers(MANY).map(one).map(ask));

    assertEquals(answers, numbers(MANY).map((n) => 2 * n));
    assert(statements.length <= 5, `${statements.length} statements`);
    assert(Math.max(...statements) <= MAX_TOGETHER);
  });

  await t.step("are not mixed with those on another topic", async () => {
    const parity = (n: number): Question<number, number> => ({
      topic: `${n % 2}`,
      ask: n,
      answer: (_, asks) => {
        assert(asks.every((ask) => ask % 2 === n % 2));
        return Promise.resolve(asks);
      },
    });

    const answers = await Promise.all(numbers(MANY).map(parity).map(ask));

    assertEquals(answers, numbers(MANY));
  });

  await t.step("fail for nobody's reason but their own", async () => {
    const quotient = (ask: number): Question<number, number> => ({
      topic: "quotient",
      ask,
      answer: async (sql, asks) => {
        const rows = await sql<{ quotient: number }[]>`
          select 100 / x::int as quotient
          from string_to_table(${asks.join()}, ',') x
        `;
        return rows.map(({ quotient }) => quotient);
      },
    });

    // The rows of the others are on their way when one fails.
    const asked = numbers(20).map((n) => 3 - n % 4);
    const answers = await Promise.allSettled(asked.map(quotient).map(ask));
    const [later] = await Promise.allSettled([ask(quotient(5))]);

    assertEquals(
      [...answers, later].map((answer) =>
        answer.status === "rejected" ? answer.reason.code : answer.value
      ),
      [...asked, 5].map((n) => n === 0 ? "22012" : Math.trunc(100 / n)),
    );
  });

  await t.step("fail all where none is the reason, at once", async () => {
    let statements = 0;
    const failing = shared("locked", async (sql) => {
      statements++;
      await sql.unsafe("do $$ begin raise sqlstate '55P03'; end $$");
    });

    for (const asked of numbers(8).map(() => ask(failing))) {
      await assertRejects(() => asked);
    }

    assertEquals(statements, 1);
  });

  await t.step("are not asked again where all asked the same", async () => {
    let statements = 0;
    const endless = shared("endless", async (sql) => {
      statements++;
      await sql.unsafe("do $$ begin raise sqlstate '57014'; end $$");
    });

    for (const asked of numbers(8).map(() => ask(endless))) {
      await assertRejects(() => asked);
    }

    assertEquals(statements, 1);
  });

  await t.step("are asked each by itself where all take too long", async () => {
    const slow = (n: number): Question<number, number> => ({
      topic: "slow",
      ask: n,
      answer: async (sql, asks) => {
        if (asks.length === 1) return asks;
        await sql.unsafe("do $$ begin raise sqlstate '57014'; end $$");
        return [];
      },
    });

    const answers = await Promise.all(numbers(8).map(slow).map(ask));

    assertEquals(answers, numbers(8));
  });

  await t.step("are given up at no other one's deadline", async () => {
    const now = performance.now();
    const held = ask(shared("held", () => pause(300)));
    const nothing = shared("nothing", () => Promise.resolve());
    const late = app.database.until(now + 100).lookUp(nothing);

    const answer = ask(nothing);

    await assertRejects(() => late, ApiError);
    await answer;
    await held;
  });

  await t.step("are refused at once where too many wait", async () => {
    const answers = await Promise.allSettled(
      numbers(MAX_WAITING + 10).map(twice([])).map(ask),
    );

    assertEquals(
      answers.flatMap((answer) =>
        answer.status === "rejected" ? [answer.reason.code] : []
      ),
      numbers(10).map(() => "SERVICE_UNAVAILABLE"),
    );
    assertEquals(await ask(twice([])(21)), 42);
  });

  await t.step("are asked anew once a statement is on its way", async () => {
    const begun = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<string>();
    const first = ask(shared("state", async () => {
      begun.resolve();
      return await answered.promise;
    }));
    await begun.promise;

    const second = ask(shared("state", () => Promise.resolve("new")));
    answered.resolve("old");

    assertEquals(await Promise.all([first, second]), ["old", "new"]);
  });
});

Deno.test("Writes that wait together", async (t) => {
  await using app = await openApp({}, { poolSize: 2 });
  const write = async (fail: (sql: Tx) => Promise<unknown>) => {
    const groups: number[] = [];
    const question = (ask: number): Question<number, number, Tx> => ({
      topic: "write",
      ask,
      answer: async (sql, asks) => {
        groups.push(asks.length);
        await fail(sql);
        return asks;
      },
    });
    const operations = app.database.until(performance.now() + MINUTE_MS);
    const outcomes = await Promise.allSettled(
      numbers(2).map(question).map(operations.write),
    );
    const codes = outcomes.map((outcome) =>
      outcome.status === "rejected" ? outcome.reason.code : outcome.value
    );
    return { groups, codes };
  };

  await t.step("are not made again where the server was away", async () => {
    for (
      const error of [
        unavailable("It went away"),
        Object.assign(new Error("It is a standby"), { code: "25006" }),
      ]
    ) {
      assertEquals(await write(() => Promise.reject(error)), {
        groups: [2],
        codes: [error.code, error.code],
      });
    }
  });

  await t.step("are not made again where the commit failed", async () => {
    const outcome = await write((sql) =>
      sql.unsafe(`
        create function pg_temp.fail() returns trigger language plpgsql
          as $$ begin raise sqlstate 'XX000'; end $$;
        create temp table doubts (n int);
        create constraint trigger fails after insert on doubts
          deferrable initially deferred
          for each row execute function pg_temp.fail();
        insert into doubts values (1)
      `)
    );

    assertEquals(outcome, {
      groups: [2],
      codes: ["SERVICE_UNAVAILABLE", "SERVICE_UNAVAILABLE"],
    });
  });

  await t.step("are made each by itself for any other failure", async () => {
    for (const state of ["23503", "40001", "55P03", "57014"]) {
      const { groups, codes } = await write((sql) =>
        sql.unsafe(`do $$ begin raise sqlstate '${state}'; end $$`)
      );

      const tries = state === "40001" ? 3 : 1;
      assertEquals(groups, [
        ...Array(tries).fill(2),
        ...Array(2 * tries).fill(1),
      ]);
      assertEquals(codes, [state, state]);
    }
  });
});

Deno.test("Requests at once", async (t) => {
  await using app = await openApp({}, { poolSize: 2 });
  const organizations = [await app.organization(), await app.organization()];

  await t.step("get each the product that it asked for", async () => {
    const asked = await Promise.all(
      organizations.flatMap((org) =>
        numbers(MAX_TOGETHER).map(async (n) => {
          const { path, product } = await org.create({ title: `Emma ${n}` });
          return { org, path, product };
        })
      ),
    );
    const [mine, theirs] = [asked[0]!, asked.at(-1)!];
    const unknown = `${PRODUCTS}/${crypto.randomUUID()}`;

    const replies = await Promise.all([
      ...asked.map(({ org, path }) => org.get(path)),
      ...asked.map(({ org, product }) =>
        org.get(`${PRODUCTS}/${product.id.toUpperCase()}`)
      ),
      mine.org.get(theirs.path),
      theirs.org.get(mine.path),
      mine.org.get(unknown),
      mine.org.get(mine.path),
    ]);

    const known = asked.map(({ product }) => [200, product]);
    assertEquals(
      replies.map(({ status, body }) => [status, body.data]),
      [
        ...known,
        ...known,
        ...numbers(3).map(() => [404, undefined]),
        [200, mine.product],
      ],
    );
  });

  await t.step("get each the list that it asked for", async () => {
    const queries = [
      "",
      "?limit=1",
      "?limit=1&page=2",
      "?search=Emma",
      "?page=9",
    ];
    const alone: unknown[] = [];
    for (const org of organizations) {
      for (const query of queries) {
        alone.push((await org.get(PRODUCTS + query)).body);
      }
    }

    const replies = await Promise.all(
      numbers(8).flatMap(() =>
        organizations.flatMap((org) =>
          queries.map((query) => org.get(PRODUCTS + query))
        )
      ),
    );

    assertEquals(
      replies.map(({ body }) => body),
      numbers(8).flatMap(() => alone),
    );
  });

  await t.step("see what was written before they came", async () => {
    const [org] = organizations;
    const total = async () => (await org!.get(PRODUCTS)).body.meta.total;

    await Promise.all(
      numbers(24).map(async () => {
        const before = await total();
        const { path } = await org!.create();
        assert(await total() > before);
        await org!.put(path, { title: "Persuasion" });
        const { body } = await org!.get(path);
        assertEquals(body.data.title, "Persuasion");
      }),
    );
  });
});

/** A question for a number, to be told twice as much; `statements` notes how many were asked by each. */
function twice(statements: number[]) {
  return (n: number): Question<number, number> => ({
    topic: "twice",
    ask: n,
    answer: async (sql, asks) => {
      statements.push(asks.length);
      const rows = await sql<{ twice: number }[]>`
        select 2 * x::int as twice from string_to_table(${asks.join()}, ',') x
      `;
      return rows.map(({ twice }) => twice);
    },
  });
}

function numbers(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
