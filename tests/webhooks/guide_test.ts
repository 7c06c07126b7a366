import { assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { freePort } from "../support/app/port.ts";
import { codeOf } from "../support/client/guides.ts";
import { webhookTest } from "./scene.ts";

/** The receiver in the guide, in this language. */
async function receiverIn(language: string): Promise<string> {
  const [receiver] = await codeOf(["called"], language);
  return receiver!;
}

const hasPython = await new Deno.Command("python3", { args: ["--version"] })
  .output().then(({ success }) => success, () => false);

const RUN: Record<string, string[]> = {
  js: [
    Deno.execPath(),
    "run",
    "--no-prompt",
    "--allow-net",
    "--allow-env",
  ],
  python: ["python3"],
};

for (const [language, [command, ...args]] of Object.entries(RUN)) {
  webhookTest(
    `The receiver of the reference page in ${language}`,
    async (scene, { step: it }) => {
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
      await Deno.writeTextFile(file, await receiverIn(language));
      const receiver = new Deno.Command(command!, {
        args: [...args, file],
        env: {
          BASE_URL: `http://127.0.0.1:${server.addr.port}/api`,
          KEY: scene.org.key,
          SECRET: webhook.secret,
          PORT: String(port),
        },
        stdout: "piped",
        stderr: "null",
      }).spawn();
      let printed = "";
      const reading = receiver.stdout.pipeThrough(new TextDecoderStream())
        .pipeTo(
          new WritableStream({ write: (text) => void (printed += text) }),
        );
      const lines = () => printed.trim().split("\n");
      await eventually("succeeded", async () => {
        const { body } = await ask("POST", `${webhook.path}/test`);
        return body.data.status;
      });
      await eventually(true, () => lines().at(-1)!.startsWith("webhook.test"));
      printed = "";

      await it("fetches the book that a message names", async () => {
        const id = await scene.product("Emma");
        await eventually(["product.changed Emma"], lines);
        await ask("PUT", `/products/${id}`, { title: "Persuasion" });
        await eventually("product.changed Persuasion", () => lines().at(-1));
        await ask("DELETE", `/products/${id}`);
        await eventually("product.deleted", () => lines().at(-1));
      });

      await it("skips what it has already", async () => {
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

      await it("refuses what is not signed", async () => {
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
    },
    {},
    language === "Python" && !hasPython,
  );
}
