import { assertEquals } from "@std/assert";
import { Activity, Signal } from "../../db/background.ts";
import { clockAhead } from "../support/app/clock.ts";

/** A signal that notes how long it is waited for, and is waited for no longer. */
class NotedSignal extends Signal {
  readonly waits: (number | undefined)[] = [];

  override wait(ms?: number): Promise<void> {
    this.waits.push(ms);
    return Promise.resolve();
  }
}

Deno.test("Work in the background is looked for", async ({ step: it }) => {
  await it("at its interval while requests come, and once a minute after ten minutes", async () => {
    const activity = new Activity();
    const signal = new NotedSignal();

    await activity.wait(signal, 1_000);
    {
      using _ = clockAhead(599_000);
      await activity.wait(signal, 1_000);
    }
    {
      using _ = clockAhead(601_000);
      await activity.wait(signal, 1_000);
      activity.requestCame();
      await activity.wait(signal, 1_000);
    }

    assertEquals(signal.waits, [1_000, 1_000, 60_000, 1_000]);
  });

  await it("as soon as a request comes to an idle service", async () => {
    const activity = new Activity();
    using _ = clockAhead(601_000);
    const waiting = activity.wait(new Signal(), 1_000);

    activity.requestCame();

    await waiting;
  });
});
