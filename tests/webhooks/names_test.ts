import { assert, assertEquals, assertRejects } from "@std/assert";
import { NameResolver } from "../../middleware/sender/names.ts";
import { TIMED } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { openScene } from "./scene.ts";

const ADDRESSES = [{ address: "1.1.1.1", family: 4 }];

/** Look-ups that return when the test ends them. */
function silentNames() {
  const asked: string[] = [];
  const returns: (() => void)[] = [];
  const names = new NameResolver((host) => {
    asked.push(host);
    return new Promise((resolve) => {
      returns.push(() => resolve(ADDRESSES));
    });
  });
  return {
    asked,
    names,
    ask: (organization: string, host: string, ms = 60_000) =>
      names.resolve(
        organization,
        new URL(`https://${host}/`),
        performance.now() + ms,
      ),
    /** Ends the oldest look-up. */
    end: () => returns.shift()!(),
  };
}

Deno.test("Names whose servers are silent", TIMED, async ({ step: it }) => {
  await it("are looked up four at once for an organization", async () => {
    const { ask, asked, end } = silentNames();
    const resolved = [1, 2, 3, 4, 5].map((i) => ask("a", `h${i}.example`));
    const other = ask("b", "other.example");
    assertEquals(asked.length, 5);
    assertEquals(asked.at(-1), "other.example");

    end();

    assertEquals(await resolved[0], ADDRESSES);
    assertEquals(asked.at(-1), "h5.example");
    for (let i = 0; i < 5; i++) end();
    await Promise.all([...resolved, other]);
  });

  await it("are looked up twenty at once in all, of organizations in turn", async () => {
    const { ask, asked, end } = silentNames();
    const resolved = [0, 1, 2, 3, 4, 5].flatMap((organization) =>
      [1, 2, 3, 4].map((i) => ask(`${organization}`, `${organization}-${i}`))
    );
    assertEquals(asked.length, 20);

    end();
    await resolved[0];
    assertEquals(asked.at(-1), "5-1");
    const late = ask("6", "6-1");
    end();
    await resolved[1];
    assertEquals(asked.at(-1), "6-1");

    for (let i = 0; i < 23; i++) {
      end();
      await Promise.resolve();
      await eventually(Math.min(25, 23 + i), () => asked.length);
    }
    await Promise.all([...resolved, late]);
  });

  await it("count until the look-up returns, though nobody waits any more", async () => {
    const { ask, asked, end } = silentNames();
    for (let i = 0; i < 6; i++) {
      await assertRejects(() => ask("a", `h${i}.example`, 20), Error);
    }
    assertEquals(asked.length, 4);

    for (let i = 0; i < 4; i++) end();
    const last = ask("a", "last.example");
    await eventually("last.example", () => asked.at(-1));
    end();
    await last;
    assertEquals(asked.length, 5);
  });

  await it("are asked for after every other check", async () => {
    const { asked, names } = silentNames();
    await using scene = await openScene({}, names);
    const { body: { data: { id } } } = await scene.ask("POST", "/webhooks", {
      url: scene.receiver.url,
    });
    const url = "https://silent.example/";
    const cursor = "AAAA";
    const unknown = "/webhooks/0190a6b5-0000-7000-8000-000000000000";
    for (
      const [method, path, body, expected] of [
        ["POST", "/webhooks", { url, events: [] }, 400],
        ["POST", "/webhooks", { url, after: cursor }, 400],
        ["PUT", unknown, { url }, 404],
        ["PUT", `/webhooks/${id}`, { url, after: cursor }, 400],
      ] as const
    ) {
      const { status } = await scene.ask(method, path, body);
      assertEquals(status, expected, `${method} ${path}`);
    }
    for (let i = 0; i < 9; i++) await scene.webhook();
    const { status } = await scene.ask("POST", "/webhooks", { url });

    assertEquals([status, asked], [409, []]);
  });

  await it("delay nobody else, and are accepted", async () => {
    const { asked, names } = silentNames();
    await using scene = await openScene({}, names);
    const { path } = await scene.webhook();
    const start = performance.now();
    const silent = Array.from(
      { length: 8 },
      (_, i) =>
        scene.ask("POST", "/webhooks", {
          url: `https://h${i}.example/`,
          enabled: false,
        }),
    );
    await eventually(4, () => asked.length);

    const reply = await scene.ask("POST", `${path}/test`);
    await scene.product();
    await scene.arrived(1);

    assertEquals(reply.body.data.status, "succeeded");
    assert(performance.now() - start < 3_000);
    for (const { status } of await Promise.all(silent)) {
      assertEquals(status, 201);
    }
    assertEquals(asked.length, 4);
  });
});
