import { assert, assertEquals, assertRejects } from "@std/assert";
import { NameResolver } from "../../features/webhooks/sender/name_resolver.ts";
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
  const end = () => returns.shift()?.();
  return {
    asked,
    names,
    ask: (organization: string, host: string, ms = 60_000) =>
      names.resolve(
        organization,
        new URL(`https://${host}/`),
        performance.now() + ms,
      ),
    /** Ends the oldest look-up, if one runs. */
    end,
    /** Ends the look-ups, and those that follow, until all are resolved. */
    async drain(resolved: Promise<unknown>) {
      let isResolved = false;
      resolved.then(() => isResolved = true);
      await eventually(true, () => {
        while (returns.length > 0) end();
        return isResolved;
      });
    },
  };
}

Deno.test("Names whose servers are silent", TIMED, async ({ step: it }) => {
  await it("are looked up five at once for an organization", async () => {
    const { ask, asked, end, drain } = silentNames();
    const resolved = [1, 2, 3, 4, 5, 6].map((i) => ask("a", `h${i}.example`));
    await eventually(5, () => asked.length);

    end();

    assertEquals(await resolved[0], ADDRESSES);
    await eventually("h6.example", () => asked.at(-1));
    const other = ask("b", "other.example");
    await eventually("other.example", () => asked.at(-1));
    await drain(Promise.all([...resolved, other]));
  });

  await it("are looked up twenty at once in all, of organizations in turn", async () => {
    const { ask, asked, end, drain } = silentNames();
    const resolved = Array.from(
      { length: 25 },
      (_, i) => [1, 2, 3, 4].map((name) => ask(`${i}`, `${i}-${name}`)),
    ).flat();
    await eventually(20, () => asked.length);
    const late = ask("late", "late.example");
    // Some organizations have none. Each of them is served before the others go on.
    for (let i = 0; !asked.includes("late.example"); i++) {
      end();
      await eventually(21 + i, () => asked.length);
      assert(i < 26);
    }

    await drain(Promise.all([...resolved, late]));
    assertEquals(asked.length, 101);
  });

  await it("count until the look-up returns, though nobody waits any more", async () => {
    const { ask, asked, end } = silentNames();
    for (let i = 0; i < 7; i++) {
      await assertRejects(() => ask("a", `h${i}.example`, 20), Error);
    }
    assertEquals(asked.length, 5);

    for (let i = 0; i < 5; i++) end();
    const last = ask("a", "last.example");
    await eventually("last.example", () => asked.at(-1));
    end();
    await last;
    assertEquals(asked.length, 6);
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
    const silent = Array.from(
      { length: 8 },
      (_, i) =>
        scene.ask("POST", "/webhooks", {
          url: `https://h${i}.example/`,
          enabled: false,
        }),
    );
    await eventually(5, () => asked.length);

    const reply = await scene.ask("POST", `${path}/test`);
    await scene.product();
    await scene.arrived(1);

    assertEquals(reply.body.data.status, "succeeded");
    for (const { status } of await Promise.all(silent)) {
      assertEquals(status, 201);
    }
    assertEquals(asked.length, 5);
  });
});
