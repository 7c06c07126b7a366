import { assertEquals } from "@std/assert";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { prepare, start } from "../support/app/process.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { TIMED } from "../support/app/deadline.ts";

/** Makes an authority, and a certificate of it for `localhost`, in the folder. */
async function makeCertificates(folder: string): Promise<void> {
  const key = "-nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
  await Deno.writeTextFile(`${folder}/names`, "subjectAltName=DNS:localhost");
  for (
    const args of [
      `req -x509 ${key} -days 1 -subj /CN=Authority -keyout ca.key -out ca.pem`,
      `req ${key} -subj /CN=localhost -keyout leaf.key -out leaf.csr`,
      "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile names -out leaf.pem",
    ]
  ) {
    const { success } = await new Deno.Command("openssl", {
      args: args.split(" "),
      cwd: folder,
      stderr: "null",
    }).output();
    assertEquals(success, true, args);
  }
}

Deno.test({
  ...TIMED,
  name: "The service with its own permissions sends by TLS",
}, async () => {
  const folder = await Deno.makeTempDir();
  await makeCertificates(folder);
  const received: string[] = [];
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    key: await Deno.readTextFile(`${folder}/leaf.key`),
    cert: await Deno.readTextFile(`${folder}/leaf.pem`),
    onListen() {},
  }, async (request) => {
    received.push((await request.json()).type);
    return new Response(null, { status: 204 });
  });
  const dataDir = await preparedFolder();
  const { key } = await prepare(
    "Harbour",
    { ...SETTINGS, url: undefined, dataDir },
  );
  await using service = await start({
    DATA_DIR: dataDir,
    DENO_CERT: `${folder}/ca.pem`,
    WEBHOOK_ALLOWED_TARGETS: "localhost",
  });
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${service.origin}/api${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...body && { body: JSON.stringify(body) },
    });
    return (await response.json()).data;
  };

  const { id } = await ask("/webhooks", {
    url: `https://localhost:${server.addr.port}/hook`,
  });
  const trusted = await ask(`/webhooks/${id}/test`);

  assertEquals([trusted.status, trusted.error], ["succeeded", null]);
  assertEquals(received, ["webhook.test"]);
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});
