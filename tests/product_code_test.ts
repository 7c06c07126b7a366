import { assertEquals } from "@std/assert";
import { openApp, type Organization } from "./harness.ts";

Deno.test("A product code that was drawn before is drawn again", async () => {
  // One session, whose dice can be loaded.
  await using app = await openApp({}, { poolSize: 1 });
  const [theirs, ours] = [await app.organization(), await app.organization()];
  const load = () => app.sql((sql) => sql`select setseed(0.5)`);
  const draw = async (org: Organization): Promise<string> =>
    (await org.create()).product.product_code;

  await load();
  const two = [await draw(theirs), await draw(theirs)];
  await load();
  const first = await draw(ours);
  await load();
  const second = await draw(ours);

  assertEquals([first, second], two);
});
