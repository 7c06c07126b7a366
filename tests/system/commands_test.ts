import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { API_KEY } from "../../db/credentials.ts";
import { help, problemOf } from "../../db/commands/cli.ts";
import { COMMANDS } from "../../db/commands/commands.ts";
import { pause } from "../../db/connections/deadline.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { escapeLines } from "../../schema/control_characters.ts";
import { clockAhead } from "../support/app/clock.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { openApp } from "../support/app/harness.ts";
import { sessionOn } from "../support/client/transfer.ts";

const DAY_MS = 86_400_000;

Deno.test("deno task", async ({ step: it }) => {
  await using app = await openApp();
  const { sql } = app;

  /** Runs a command line. Arguments cannot contain spaces. */
  async function run(line: string): Promise<string> {
    const words = line.split(" ").filter(Boolean);
    const verbs = COMMANDS[words[0]!] ? 1 : 2;
    const command = COMMANDS[words.slice(0, verbs).join(" ")]!;
    const output = await command.parse(words.slice(verbs))(
      sessionOn(app),
    );
    return escapeLines(output as string);
  }

  const statusWith = async (key: string, method = "GET") =>
    (await app.send("/api/products", {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...method === "POST" && { body: '{"title":"Emma"}' },
    })).status;

  await it("organization create prints only the new id, which list shows", async () => {
    const id = await run("organization create Zebra-Press");

    const list = JSON.parse(await run("organization list --json"));

    assertMatch(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assertEquals(
      list.find((row: { id: string }) => row.id === id).name,
      "Zebra-Press",
    );
    assertMatch(await run("organization list"), /^id +name\n/);
  });

  await it("key create prints a key that works", async () => {
    const organization = await run("organization create Harbour");

    const key = await run(
      `key create --organization ${organization.toUpperCase()} --name Web`,
    );

    assertMatch(key, API_KEY);
    assertEquals(await statusWith(key, "POST"), 201);
    const { body: { data: [product] } } = await app.send("/api/products", {
      headers: { "x-api-key": key },
    });
    assertEquals(product.organization_id, organization);
  });

  await it("key create sets scope and expiry", async () => {
    const organization = await run("organization create Harbour");
    // Not tomorrow, which begins at midnight.
    const day = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);

    const key = await run(
      `key create --organization ${organization} --name Web --scope read --expires ${day}`,
    );

    assertEquals(await statusWith(key, "POST"), 403);
    const [row] = await sql`
      select expires_at = ${day}::timestamptz as is_set from api_keys where id = ${key.slice(4, 16)}
    `;
    assertEquals(row!.is_set, true);
  });

  await it("key list shows everything but the key itself", async () => {
    const organization = await run("organization create Harbour");
    assertEquals(await run(`key list --organization ${organization}`), "None");
    const create = `key create --organization ${organization}`;
    const first = await run(`${create} --name First`);
    // The clock of the embedded database counts milliseconds.
    await pause(2);
    const second = await run(
      `${create} --name Second --scope read --expires 2199-01-31T12:00:00+02:00`,
    );
    const [, firstId] = API_KEY.exec(first)!;
    const [, secondId] = API_KEY.exec(second)!;

    const table = await run(`key list --organization ${organization}`);
    const json = await run(`key list --organization ${organization} --json`);

    const keys = JSON.parse(json) as Record<string, unknown>[];
    assertEquals(
      keys.map(({ created_at: _, ...key }) => key),
      [
        {
          public_id: secondId,
          name: "Second",
          scope: "read",
          recipient_id: null,
          expires_at: "2199-01-31T10:00:00.000Z",
          revoked_at: null,
          last_used_at: null,
        },
        {
          public_id: firstId,
          name: "First",
          scope: "write",
          recipient_id: null,
          expires_at: null,
          revoked_at: null,
          last_used_at: null,
        },
      ],
    );
    assertEquals(table.split("\n").length, 3);
    for (const key of [first, second]) {
      const secret = key.slice("cat_".length + 13);
      for (const printed of [table, json]) {
        assert(!printed.includes(secret.slice(0, 8)));
      }
    }
  });

  await it("key revoke revokes a key now, or at a time", async () => {
    const organization = await run("organization create Harbour");
    const create = `key create --organization ${organization} --name`;
    const now = await run(`${create} Now`);
    const later = await run(`${create} Later`);
    const at = new Date(Date.now() + DAY_MS).toISOString();
    assertEquals(await statusWith(now), 200);

    const saidNow = await run(`key revoke ${now.slice(4, 16)}`);
    const saidLater = await run(`key revoke ${later.slice(4, 16)} --at ${at}`);

    assertStringIncludes(saidNow, "is revoked at 20");
    assertStringIncludes(saidLater, `is revoked at ${at}`);
    using _ = clockAhead(5_000);
    assertEquals(await statusWith(now), 401);
    assertEquals(await statusWith(later), 200);
  });

  await it("key list escapes control characters in names", async () => {
    const organization = await run("organization create Harbour-Press");
    const name = "\x1b[2J\n\x9b\u202e";
    await run(`key create --organization ${organization} --name ${name}`);

    const list = `key list --organization ${organization}`;
    const table = await run(list);
    const json = await run(`${list} --json`);

    assertStringIncludes(table, "\\u001b[2J\\u000a\\u009b\\u202e");
    assertEquals(table.split("\n").length, 2);
    assertStringIncludes(json, "\\u001b[2J\\n\\u009b\\u202e");
  });

  await it("member add, list and remove manage the members", async () => {
    const organization = await run("organization create Harbour");
    const list = `member list --organization ${organization}`;
    const of = `--organization ${organization}`;
    assertEquals(await run(list), "None");

    await run(`member add ${of} --user auth0|a --role viewer`);
    await run(`member add ${of} --user b --role owner`);
    await run(`member add ${of} --user auth0|a --role editor`);

    assertEquals(JSON.parse(await run(`${list} --json`)), [
      { user_id: "auth0|a", role: "editor" },
      { user_id: "b", role: "owner" },
    ]);
    assertEquals(
      await run(list),
      "user_id  role\nauth0|a  editor\nb        owner",
    );
    await run(`member remove ${of} --user auth0|a`);
    assertEquals(await run(list), "user_id  role\nb        owner");
  });

  await it("migrate and seed report their work, and can be repeated", async () => {
    assertEquals(await run("migrate"), "The database is up to date");
    assertEquals(await run("seed"), "The code lists are filled");
  });

  await it("seed runs files in one transaction, or nothing", async () => {
    const folder = await Deno.makeTempDir();
    // The database has organizations of other tests and, on a server that is kept, of earlier runs.
    const ours = `Seeded ${uuidv7()}`;
    const files = {
      "good.sql": `insert into organizations (name) values ('${ours}');`,
      "ended.sql": `insert into organizations (name) values ('${ours}'); commit;`,
      "copied.sql": `copy organizations (name) from stdin;\n${ours}\n\\.\n`,
      "shown.sql": "copy organizations to stdout;",
      "rolled_back.sql": `insert into organizations (name) values ('${ours}'); rollback;`,
      "misspelt.sql":
        `insert into organizations (name) values ('${ours}');\ninsert into organizations (nam) values (null);`,
      "failing.sql": "insert into organizations (name) values (null);",
    };
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    const count = async () => {
      const list = JSON.parse(await run("organization list --json"));
      return list.filter(({ name }: { name: string }) => name === ours).length;
    };

    for (
      const [name, problem] of Object.entries({
        "ended.sql":
          "ended.sql: EXECUTE of transaction commands is not implemented: files run in one transaction, without COMMIT",
        "rolled_back.sql": "rolled_back.sql: EXECUTE of transaction commands",
        "copied.sql":
          'copied.sql:2: syntax error at or near "Seeded": files run in one transaction, without COMMIT, ROLLBACK, SAVEPOINT, COPY from',
        "shown.sql": "shown.sql: cannot COPY to/from client in PL/pgSQL: files run",
        "misspelt.sql": 'misspelt.sql:2: column "nam" of relation',
        "failing.sql":
          'failing.sql: null value in column "name" of relation "organizations" violates not-null constraint: Failing row contains',
      })
    ) {
      const { message } = await assertRejects(
        () => run(`seed ${folder}/good.sql ${folder}/${name}`),
        Error,
      );
      assertStringIncludes(message, problem);
      assertEquals(message.includes("\n"), false, message);
      assertEquals(await count(), 0);
    }
    assertEquals(
      await run(`seed ${folder}/good.sql`),
      `The code lists are filled\nRan ${folder}/good.sql`,
    );
    assertEquals(await count(), 1);
    await Deno.remove(folder, { recursive: true });
  });

  await it("explains wrong arguments in one line", async () => {
    const id = await run("organization create Wren");
    const wrong = {
      "migrate now": 'Unexpected "now"',
      "migrate --force": "--force",
      "seed --all": "--all",
      "organization create": "NAME is missing",
      "organization create a b": 'Unexpected "b"',
      "organization create a --id 1": "--id",
      "key create": "--organization is missing",
      "key create --organization": "--organization",
      "key create --organization 1 --name x": "--organization must be a UUID",
      [`key create --organization ${id}`]: "--name is missing",
      [`key create --organization ${id} --name=`]: "--name is missing",
      [`key create --organization ${id} --name x y`]: 'Unexpected "y"',
      [`key create --organization ${id} --name x --scope all`]: "--scope must be read, write",
      [`key create --organization ${id} --name x --expires tomorrow`]: "--expires must be a day",
      [`key create --organization ${id} --name x --expires 2020-01-31`]:
        "--expires must be in the future",
      [`key create --organization ${id} --name x --expires 2027-02-30`]: "--expires must be a day",
      [`key create --organization ${id} --name x --expires 2027-01-31T12:00`]:
        "--expires must be a day",
      "key list": "--organization is missing",
      [`key list --organization ${id} --csv`]: "--csv",
      "key revoke": "PUBLIC_ID must be",
      [`key revoke cat_${"a".repeat(12)}_${"b".repeat(43)}`]: "PUBLIC_ID must be",
      "key revoke aaaaaaaaaaaa --at noon": "--at must be a day",
      "key revoke zzzzzzzzzzz0": "No key has the public id",
      [`member add --organization ${id} --user a`]: "--role is missing",
      [`member add --organization ${id} --user a --role king`]:
        "--role must be viewer, editor, admin, owner",
      [`member add --organization ${id} --role owner`]: "--user is missing",
      "member list --organization x": "--organization must be a UUID",
      [`member remove --organization ${id}`]: "--user is missing",
      [`member remove --organization ${id} --user a`]: '"a" is not a member',
    };
    for (const [line, expected] of Object.entries(wrong)) {
      const { message } = await assertRejects(() => run(line), Error);

      assertStringIncludes(message, expected);
      assert(!message.includes("\n"), message);
      assert(!message.includes("b".repeat(43)), "a key is not repeated");
    }
  });

  await it("import says which files it takes", async () => {
    const path = await Deno.makeTempFile({ suffix: ".txt" });
    await Deno.writeTextFile(path, "title,isbn13\nEmma,9780141439587\n");

    const { message } = await assertRejects(
      () => run(`import --organization ${uuidv7()} ${path}`),
      Error,
    );
    assertStringIncludes(message, "neither an ONIX message (XML) nor");
    assertStringIncludes(message, "the name of a sheet ends with .csv");

    // The container of a workbook of the old form.
    await Deno.writeFile(path, Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1));
    const id = await run("organization create Harbour");
    const { message: old } = await assertRejects(
      () => run(`import --organization ${id} ${path}`),
      Error,
    );
    assertStringIncludes(old, "save it as an Excel workbook (.xlsx)");
    await Deno.remove(path);
  });

  await it("explains an unknown organization", async () => {
    const of = `--organization ${uuidv7()}`;
    for (
      const line of [
        `key create ${of} --name x`,
        `member add ${of} --user a --role owner`,
        `member list ${of}`,
        `key list ${of}`,
        `webhook list ${of}`,
        `readiness ${of} --profile kobo`,
        `export ${of}`,
        `export ${of} --format onix`,
      ]
    ) {
      const error = await assertRejects(() => run(line));

      assertEquals(problemOf(error), "No organization has this id");
    }
  });

  await it("names the missing step for a database without tables", async () => {
    await using fresh = await openFreshDatabase();
    const error = await assertRejects(() => fresh.operations.scan(sql`select from organizations`));

    assertStringIncludes(
      problemOf(error as Error & { code?: string }),
      "run deno task migrate and deno task seed first",
    );
  });

  await it("names the missing step for a database that is behind", async () => {
    await using fresh = await openFreshDatabase();
    const error = await assertRejects(() =>
      fresh.operations.scan(sql`select added_by_a_later_migration from pg_class`)
    );

    assertStringIncludes(
      problemOf(error as Error & { code?: string }),
      "run deno task migrate first",
    );
  });

  await it("prints the usage of each command", () => {
    for (const [name, { usage, does }] of Object.entries(COMMANDS)) {
      assert(usage.startsWith(name));
      assertStringIncludes(help(), `deno task ${usage}\n    ${does}`);
    }
    assertEquals(help("key").match(/deno task/g)?.length, 3);
    assertEquals(help("key", "create").split("\n").length, 2);
    assertStringIncludes(help("start"), "deno task start");
    assertEquals(help("--help"), help());
  });
});
