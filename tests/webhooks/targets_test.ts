import { assertEquals } from "@std/assert";
import { NameResolver } from "../../features/webhooks/sender/name_resolver.ts";
import { type Answer, type Post, post } from "../../features/webhooks/sender/post.ts";
import {
  type AllowedTargets,
  faultsOf,
  hostOf,
  parseAllowedTargets,
} from "../../schema/targets.ts";
import { openScene } from "./scene.ts";
import { TIMED } from "../support/app/deadline.ts";

const NONE: AllowedTargets = [];

/** The first and the last address of each range that is not public, and other spellings. */
const FORBIDDEN = [
  ...["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255"],
  ...["100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255"],
  ...["169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255"],
  ...["192.0.0.0", "192.0.0.255", "192.0.2.1", "192.168.0.0"],
  ...["192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.1"],
  ...["203.0.113.1", "224.0.0.0", "239.1.1.1", "240.0.0.1"],
  "255.255.255.255",
  ...["[::]", "[::1]", "[fc00::]", "[fdff::1]", "[fe80::1]", "[febf::1]"],
  ...["[fec0::1]", "[ff02::1]", "[2001:db8::1]"],
  // IPv6 outside 2000::/3, and the assigned blocks in it.
  ...["[1fff::1]", "[4000::1]", "[100::1]", "[5f00::1]", "[fbff::1]"],
  ...["[2001:1ff:ffff::1]", "[2001:20::1]", "[3fff::1]", "[3fff:fff::1]"],
  // IPv4 in IPv6: mapped, translated, compatible, NAT64, its local form, 6to4, Teredo.
  ...["[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]", "[::8.8.8.8]"],
  ...["[::ffff:0:7f00:1]", "[::ffff:0.0.0.1]", "[64:ff9b::0.0.0.1]"],
  ...["[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[64:ff9b:1:ffff::7f00:1]"],
  ...["[2002:7f00:1::]", "[2002:808:808::1]"],
  ...["[2001:0:a00:1::808:808]", "[2001:0:808:808::f7f7:f7f7]"],
  ...["127.1", "127.0.1", "0x7f.1", "0177.0.0.1", "2130706433", "0x7f000001"],
  ...["0", "127.0.0.1.", "１２７.0.0.1", "127。0。0。1", "%31%32%37.0.0.1"],
  ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost."],
];

const PUBLIC = [
  ...["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"],
  ...["126.255.255.255", "128.0.0.0", "172.15.255.255", "172.32.0.0"],
  ...["192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255"],
  ...["198.20.0.0", "223.255.255.255"],
  ...["[2606:4700::1]", "[2001:200::1]", "[3ffe:ffff::1]"],
  ...["[64:ff9b::808:808]", "[::ffff:8.8.8.8]"],
];

Deno.test("The targets of webhooks", TIMED, async ({ step: it }) => {
  function faults(host: string, allowed = NONE, protocol = "https"): string {
    const url = new URL(`${protocol}://${host}/hook`);
    return faultsOf(url, [hostOf(url)], allowed).join();
  }

  await it("are public addresses, in every spelling", () => {
    for (const host of FORBIDDEN) {
      assertEquals(faults(host), "forbidden_target", host);
    }
    for (const host of PUBLIC) assertEquals(faults(host), "", host);
  });

  await it("need https", () => {
    assertEquals(faults("1.1.1.1", NONE, "http"), "https_required");
  });

  await it("need all addresses of a name to be public", () => {
    const url = new URL("https://shop.example/");

    assertEquals(faultsOf(url, ["1.1.1.1", "2606:4700::1"], NONE), []);
    assertEquals(
      faultsOf(url, ["1.1.1.1", "10.0.0.1"], NONE),
      ["forbidden_target"],
    );
    assertEquals(faultsOf(url, [], NONE), []);
  });

  await it("are also what the operator allows, by http too", () => {
    const allowed = parseAllowedTargets(
      "receiver.internal, 10.1.0.0/16,127.0.0.1,fd00::/8",
    )!;

    for (
      const host of [
        "receiver.internal",
        "RECEIVER.internal.",
        "10.1.255.255",
        "127.0.0.1",
        "[::ffff:10.1.0.1]",
        "[fd12::1]",
      ]
    ) {
      assertEquals(faults(host, allowed), "", host);
      assertEquals(faults(host, allowed, "http"), "", host);
    }
    for (const host of ["10.2.0.0", "127.0.0.2", "localhost", "[fc00::1]"]) {
      assertEquals(faults(host, allowed), "forbidden_target", host);
    }
    assertEquals(
      faultsOf(new URL("http://shop.example/"), ["10.1.0.1"], allowed),
      [],
    );
    assertEquals(
      faultsOf(new URL("http://localhost/"), ["127.0.0.1"], allowed),
      ["https_required", "forbidden_target"],
    );
    assertEquals(faults("localhost", parseAllowedTargets("localhost")), "");
  });

  await it("may be allowed at one port", () => {
    const allowed = parseAllowedTargets(
      "receiver.internal:8080,10.1.0.0/16:443,[fd00::]/8:80,[fd00::1]:9000",
    )!;
    const https = ["receiver.internal:8080", "10.1.2.3", "[fd00::1]:9000"];
    for (const host of https) assertEquals(faults(host, allowed), "", host);
    const http = ["receiver.internal:8080", "[fd00::1]:9000", "[fd12::1]"];
    for (const host of http) {
      assertEquals(faults(host, allowed, "http"), "", host);
    }
    for (const host of ["10.1.2.3:8443", "[fd00::1]:9001", "[fd12::1]"]) {
      assertEquals(faults(host, allowed), "forbidden_target", host);
    }
    const url = new URL("http://receiver.internal/");
    assertEquals(faultsOf(url, [], allowed), ["https_required"]);
  });

  await it("cannot be allowed in a form that names no host", () => {
    for (
      const list of ["10.0.0.0/33", "a b", "a/8", "127.1", "a,,b", ":80"]
        .concat("host:65536", "host:", "host:x", "a:1:2", "[fd00::1", "[a]:1")
        .concat("*.internal", "*:80")
    ) {
      assertEquals(parseAllowedTargets(list), undefined, list);
    }
  });

  await it("are checked at POST and PUT", async () => {
    await using scene = await openScene();
    const webhook = await scene.webhook();
    for (const host of ["10.0.0.1", "[::1]", "localhost", "0x7f000002"]) {
      for (
        const { status, body } of [
          await scene.ask("POST", "/webhooks", { url: `https://${host}/` }),
          await scene.ask("PUT", webhook.path, { url: `https://${host}/` }),
        ]
      ) {
        assertEquals(status, 400);
        const { pointer, code } = body.error.details[0];
        assertEquals([pointer, code], ["/url", "forbidden_target"]);
      }
    }
    const later = await scene.ask("POST", "/webhooks", {
      url: "https://not-yet.invalid/",
    });
    assertEquals(later.status, 201);
    const test = await scene.ask(
      "POST",
      `/webhooks/${later.body.data.id}/test`,
    );
    assertEquals(test.body.data.error, "unresolved");
  });

  await it("are checked before each attempt", async () => {
    await using scene = await openScene();
    const { id, path } = await scene.webhook();
    // As if the operator allowed less, or the name had other addresses now.
    await scene.app
      .sql`update webhooks set url = 'https://10.0.0.1/' where id = ${id}`;

    const { body } = await scene.ask("POST", `${path}/test`);

    assertEquals(body.data.error, "forbidden_target");
  });
});

/** How a hostile receiver answers, by path. */
const ANSWERS: Record<string, (writer: Deno.Conn) => Promise<void>> = {
  "/redirect": (to) => write(to, "302 Found", "location: http://10.0.0.1/\r\ncontent-length: 0"),
  "/endless": async (to) => {
    await write(to, "200 OK");
    for (;;) await send(to, "x".repeat(10_000));
  },
  "/drip": async (to) => {
    await write(to, "200 OK");
    for (;;) await send(to, "x").then(() => pause(50));
  },
  "/slow-head": async (to) => {
    for (const char of `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(99)}`) {
      await send(to, char);
      await pause(50);
    }
  },
  "/silent": () => new Promise(() => {}),
  "/closed": (to) => Promise.resolve(to.close()),
  "/nonsense": (to) => send(to, "SSH-2.0-OpenSSH_9.6\r\n"),
  "/204-with-body": (to) => write(to, "204 No Content", "a: b", "Done"),
  "/more-than-said": (to) => write(to, "200 OK", "content-length: 4", "Done!"),
  "/less-than-said": (to) =>
    write(to, "200 OK", "content-length: 9", "Done").then(() => to.close()),
  "/wrong-chunks": (to) => write(to, "200 OK", "transfer-encoding: chunked", "ZZ\r\nDone"),
  "/hints": async (to) => {
    await send(to, "HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n".repeat(3));
    await write(to, "200 OK", "content-length: 0");
  },
  "/continues": async (to) => {
    const heads = "HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000);
    for (;;) await send(to, heads);
  },
  "/long-hints": async (to) => {
    const hint = `HTTP/1.1 103 Early Hints\r\na: ${"a".repeat(6_000)}\r\n\r\n`;
    await send(to, hint.repeat(3));
    await write(to, "200 OK", "content-length: 0");
  },
  "/large-head": (to) => write(to, "200 OK", `a: ${"a".repeat(1_000_000)}`),
};

Deno.test("Hostile receivers", TIMED, async ({ step: it }) => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const paths: string[] = [];
  const serving = (async () => {
    for await (const connection of listener) {
      const request = new TextDecoder().decode(await read(connection));
      const path = /^POST (\S+)/.exec(request)?.[1] ?? "";
      paths.push(path);
      // TLS begins with bytes that name no path.
      const answer = ANSWERS[path] ?? ANSWERS["/nonsense"]!;
      answer(connection).catch(() => {});
    }
  })();
  // More than an answer takes on a busy machine.
  let timeoutMs = 10_000;
  const names = new NameResolver();
  const ask = (
    url: string,
    resolve: Post["resolve"] = (url, deadline) => names.resolve("", url, deadline),
  ) =>
    post({
      url,
      headers: {},
      body: "{}",
      timeoutMs,
      allowed: parseAllowedTargets("127.0.0.1")!,
      resolve,
    });
  const at = (path: string) => ask(`http://127.0.0.1:${port}${path}`);
  const expectSoon = async (
    asked: Promise<Answer>,
    expected: Partial<Answer>,
  ) => {
    const start = performance.now();
    const { response_status, error } = await asked;
    assertEquals({ response_status, error }, {
      response_status: null,
      error: null,
      ...expected,
    });
    const taken = performance.now() - start;
    assertEquals(taken < 9_000, true, `It took ${taken} ms`);
  };

  await it("are not followed elsewhere", async () => {
    await expectSoon(at("/redirect"), {
      response_status: 302,
      error: "status",
    });
    assertEquals(paths, ["/redirect"]);
  });

  await it("are read no further than 2 KiB", async () => {
    const answer = await at("/endless");

    assertEquals([answer.error, answer.response_body!.length], [null, 2_048]);
  });

  await it("do not gain time by dripping", async () => {
    // An answer is read until the timeout, and these would never end.
    timeoutMs = 700;
    await expectSoon(at("/drip"), { response_status: 200 });
    await expectSoon(at("/slow-head"), { error: "timeout" });
    await expectSoon(at("/silent"), { error: "timeout" });
    timeoutMs = 10_000;
  });

  await it("have got the message, whatever follows the head", async () => {
    const paths = ["more-than-said", "less-than-said", "wrong-chunks"];
    for (const path of paths) {
      await expectSoon(at(`/${path}`), { response_status: 200 });
    }
    await expectSoon(at("/204-with-body"), { response_status: 204 });
  });

  await it("may send three informational heads, and 16 KiB of head in all", async () => {
    await expectSoon(at("/hints"), { response_status: 200 });
    for (const path of ["/continues", "/long-hints"]) {
      await expectSoon(at(path), { error: "connection" });
    }
  });

  await it("that speak no HTTP fail the connection", async () => {
    for (const path of ["/closed", "/nonsense", "/large-head"]) {
      await expectSoon(at(path), { error: "connection" });
    }
    await expectSoon(ask("http://127.0.0.1:1/"), {
      error: "connection",
    });
  });

  await it("cannot change their address after the check", async () => {
    let asked = 0;
    const find = () => {
      asked++;
      return Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
    };

    // This name resolves nowhere: only the checked address can have been reached.
    await expectSoon(ask(`http://rebinding.invalid:${port}/redirect`, find), {
      response_status: 302,
      error: "status",
    });
    assertEquals(asked, 1);
    await expectSoon(
      ask(
        `http://rebinding.invalid:${port}/redirect`,
        () => Promise.resolve([{ address: "127.0.0.2", family: 4 }]),
      ),
      { error: "forbidden_target" },
    );
  });

  await it("with a certificate that nobody vouches for", async () => {
    // The first use of TLS loads the certificates of all authorities.
    const folder = await Deno.makeTempDir();
    const [key, cert] = [`${folder}/key.pem`, `${folder}/cert.pem`];
    await new Deno.Command("openssl", {
      args: ["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt"]
        .concat("ec_paramgen_curve:prime256v1", "-days", "1", "-subj")
        .concat("/CN=receiver.invalid", "-keyout", key, "-out", cert),
      stderr: "null",
    }).output();
    const server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      key: await Deno.readTextFile(key),
      cert: await Deno.readTextFile(cert),
      onListen() {},
    }, () => new Response("Reached"));

    await expectSoon(ask(`https://127.0.0.1:${server.addr.port}/`), { error: "tls" });
    await expectSoon(ask(`https://127.0.0.1:${port}/nonsense`), {
      error: "tls",
    });

    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  });

  listener.close();
  await serving.catch(() => {});
});

async function read(connection: Deno.Conn): Promise<Uint8Array> {
  const buffer = new Uint8Array(10_000);
  const size = await connection.read(buffer) ?? 0;
  return buffer.subarray(0, size);
}

async function send(connection: Deno.Conn, text: string): Promise<void> {
  await connection.write(new TextEncoder().encode(text));
}

async function write(
  connection: Deno.Conn,
  status: string,
  header = "a: b",
  body = "",
): Promise<void> {
  const head = `HTTP/1.1 ${status}\r\n${header}\r\n\r\n`;
  await send(connection, head + body);
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
