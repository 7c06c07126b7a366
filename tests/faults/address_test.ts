import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import postgres from "postgres";
import { doctor } from "../../db/doctor/doctor.ts";
import { eventually } from "../support/app/eventually.ts";
import { launch } from "../support/app/process.ts";
import { ownerOf, startCluster } from "../support/servers/cluster.ts";
import { isPossible } from "./scene.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test({
  ...TIMED,
  name: "DATABASE_URL",
  ignore: !isPossible,
}, async ({ step: it }) => {
  const folder = await Deno.makeTempDir();
  const [certificate, key] = [`${folder}/cert.pem`, `${folder}/key.pem`];
  await certify("IP:127.0.0.1");
  await using cluster = await startCluster({
    ssl: "on",
    ssl_cert_file: certificate,
    ssl_key_file: key,
  });

  await it("verify-full checks the IP address", async () => {
    const { code, stderr } = await migrate(withMode("verify-full"));

    assertEquals([code, stderr], [0, ""]);
  });

  await it("verify-full refuses another name", async () => {
    await cluster.stop("fast");
    await certify("DNS:localhost");
    await cluster.start();

    assertMatch(
      (await migrate(withMode("verify-full"))).stderr,
      /certificate/i,
    );
    assertEquals((await migrate(withMode("require"))).code, 0);
  });

  await it("is named in the error for a wrong password", async () => {
    const url = new URL(cluster.url);
    url.password = "wrong-password";

    const { code, stderr } = await launch({ DATABASE_URL: url.href }).ended;

    assertEquals(code, 1);
    assertEquals(
      stderr,
      'password authentication failed for user "postgres": Check the user and the password in DATABASE_URL, and pg_hba.conf\n',
    );
  });

  const url = new URL(cluster.url);
  url.pathname = "/template1";
  const superuser = postgres(url.href, { max: 1 });

  await it("of a role without privileges makes doctor print the missing grants", async () => {
    await superuser`create role clerk login password 'clerk-password'`;
    await superuser`create database books`;
    url.pathname = "/books";
    url.username = "clerk";
    url.password = "clerk-password";

    const { text: report } = await doctor(
      (name) => name === "DATABASE_URL" ? url.href : undefined,
    );

    assertStringIncludes(
      report,
      "The role clerk may not create btree_gin, pg_trgm",
    );
    assertStringIncludes(
      report,
      "As a superuser or the owner of the database books, in it: create extension btree_gin; create extension pg_trgm; grant create on schema public to clerk",
    );
    const { code, stderr } = await launch({ DATABASE_URL: url.href }).ended;
    assertEquals([code, stderr], [
      1,
      "permission denied for schema public: Make the role the owner of the database, or grant what deno task doctor names\n",
    ]);
  });

  await it("of a role that owns its database is sufficient", async () => {
    await superuser`create database papers owner clerk`;
    url.pathname = "/papers";

    const { code, stderr } = await migrate(url);

    assertEquals([code, stderr], [0, ""]);
  });

  await it("names a database without UTF-8", async () => {
    await superuser`create database latin encoding 'LATIN1' locale 'C' template template0 owner clerk`;
    url.pathname = "/latin";

    const { text: report } = await doctor(
      (name) => name === "DATABASE_URL" ? url.href : undefined,
    );

    assertStringIncludes(report, "The encoding of latin is LATIN1");
    assertStringIncludes(report, "encoding 'UTF8'");
    for (
      const { code, stderr } of [
        await migrate(url),
        await launch({ DATABASE_URL: url.href }).ended,
      ]
    ) {
      assertEquals(code, 1);
      assertMatch(
        stderr,
        /^The encoding of the database latin is LATIN1: .+ encoding 'UTF8' .+\n$/,
      );
    }
  });

  await it("names a server without TLS", async () => {
    await superuser`alter system set ssl = off`;
    await superuser`select pg_reload_conf()`;
    await eventually(true, async () => {
      const { stderr } = await migrate(withMode("require"));
      return /turn TLS on there .+, or remove sslmode/.test(stderr);
    });
  });

  await superuser.end();
  await Deno.remove(folder, { recursive: true });

  function migrate(address: URL) {
    return launch(
      { DATABASE_URL: address.href, DENO_CERT: certificate },
      () => ["run", "--quiet", "-A", "main.ts", "migrate"],
    ).ended;
  }

  function withMode(sslmode: string): URL {
    return new URL(`${cluster.url}?sslmode=${sslmode}`);
  }

  async function certify(name: string): Promise<void> {
    const { success } = await new Deno.Command("openssl", {
      args: [
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"],
        ...["-subj", "/CN=catalogue", "-addext", `subjectAltName=${name}`],
        ...["-addext", "basicConstraints=critical,CA:FALSE"],
        ...["-keyout", key, "-out", certificate],
      ],
      stderr: "null",
    }).output();
    assertEquals(success, true);
    await ownerOf(folder, certificate, key);
  }
});
