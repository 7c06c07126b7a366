import { assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { freePort } from "../support/app/port.ts";
import { webhookTest } from "./scene.ts";

const PAGE = new URL("../../routes/docs/page.html", import.meta.url);

/** The receiver in the guide of the reference page. */
async function receiverOfPage(): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const [, code] = /<pre data-language="JavaScript">(.+?)<\/pre>/s.exec(page)!;
  return code!.replaceAll("&lt;", "<").replaceAll("&gt;", ">");
}

webhookTest("The receiver of the reference page", async (scene, t) => {
  const { ask } = scene;
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    handler: scene.app.handler,
    onListen() {},
  });
  const port = freePort();
  const url = `http://127.0.0.1:${port}/`;
  const webhook = await scene.webhook({ url });
  const file = await Deno.makeTempFile({ suffix: ".mjs" });
  await Deno.writeTextFile(file, await receiverOfPage());
  const receiver = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-net", "--allow-env", file],
    env: {
      BASE_URL: `http://127.0.0.1:${server.addr.port}/api`,
      KEY: scene.org.key,
      SECRET: webhook.secret,
      PORT: String(port),
    },
    stdout: "piped",
  }).spawn();
  let printed = "";
  const reading = receiver.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({ write: (text) => void (printed += text) }),
  );
  const lines = () => printed.trim().split("\n");
  await eventually("succeeded", async () => {
    const { body } = await ask("POST", `${webhook.path}/test`);
    return body.data.status;
  });
  printed = "";

  await t.step("fetches the book that a message names", async () => {
    const id = await scene.product("Emma");
    await eventually(["product.changed Emma"], lines);
    await ask("PUT", `/products/${id}`, { title: "Persuasion" });
    await eventually("product.changed Persuasion", () => lines().at(-1));
    await ask("DELETE", `/products/${id}`);
    await eventually("product.deleted", () => lines().at(-1));
  });

  await t.step("skips what it has already", async () => {
    await scene.until(webhook, "behind", 0);
    const [before] = await scene.deliveries(webhook);
    await ask("PUT", webhook.path, { after: webhook.cursor });
    await eventually(true, async () => {
      const [newest] = await scene.deliveries(webhook);
      return newest.id === before.id &&
        newest.attempted_at > before.attempted_at;
    });

    assertEquals(lines().length, 3);
  });

  await t.step("refuses what is not signed", async () => {
    const forged = await fetch(url, {
      method: "POST",
      headers: {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
        "webhook-signature": `v1,${"A".repeat(43)}=`,
      },
      body: '{"type":"product.deleted","data":{}}',
    });
    await forged.body?.cancel();

    assertEquals(forged.status, 401);
  });

  receiver.kill();
  await receiver.status;
  await reading;
  await Deno.remove(file);
});
