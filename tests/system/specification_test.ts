import { assertEquals } from "@std/assert";
import { type Profiler, Session } from "node:inspector";
import { testsOf } from "../support/app/harness.ts";
import { fullBody } from "../support/data/bodies.ts";

const ROOT = new URL("../../", import.meta.url).href;

/**
 * Every function of a feature that the five operations run: GET asks whether the query chooses a
 * version, and a 404 whether the product was deleted and can be restored.
 */
const RUN_OF_FEATURES = [
  "features/history/db/versions.ts: isMissing",
  "features/history/db/versions.ts: restoreAdvice",
  "features/history/routes.ts: get",
  "features/history/routes.ts: restorable",
  "features/history/schema/history.ts: choosesVersion",
];

const it = testsOf("The operations of the specification");

it("run nearly nothing of the features", async ({ app, org }) => {
  const body = await fullBody(app, org);
  const { path } = await org.create(body);
  await org.create({ title: "Persuasion" });
  const play = async () => {
    for (const query of ["", "?page=1&limit=1", "?search=emma", "?search=9780306406157"]) {
      assertEquals((await org.get(`/api/products${query}`)).status, 200);
    }
    const created = await org.create(body);
    assertEquals((await org.get(path)).status, 200);
    assertEquals((await org.get(`/api/products/${crypto.randomUUID()}`)).status, 404);
    assertEquals((await org.put(path, { ...body, title: "Emma" })).status, 200);
    assertEquals((await org.put(path, { title: "" })).status, 400);
    assertEquals((await org.delete(created.path)).status, 200);
  };
  await play();

  using run = await recordFunctions();
  await play();
  assertEquals((await run.of("features/")).sort(), RUN_OF_FEATURES);
});

/** Records which functions run from now on. */
async function recordFunctions() {
  const session = new Session();
  session.connect();
  const ask = (method: string, parameters = {}) =>
    new Promise<object>((resolve, reject) => {
      session.post(method, parameters, (error, result) => error ? reject(error) : resolve(result!));
    });
  await ask("Profiler.enable");
  await ask("Profiler.startPreciseCoverage", { callCount: true });
  return {
    /** The functions of a folder that have run, as `file: function`. */
    async of(folder: string): Promise<string[]> {
      const { result } = await ask(
        "Profiler.takePreciseCoverage",
      ) as Profiler.TakePreciseCoverageReturnType;
      return result.filter(({ url }) => url.startsWith(ROOT + folder)).flatMap((
        { url, functions },
      ) =>
        functions.filter(({ ranges }) => ranges[0]!.count > 0)
          .map(({ functionName }) => `${url.slice(ROOT.length)}: ${functionName}`)
      );
    },
    [Symbol.dispose]() {
      session.disconnect();
    },
  };
}
