import { assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../db/commands/commands.ts";
import { examine } from "../../db/doctor/checks.ts";
import { migrate } from "../../db/migrate.ts";
import { readConfig } from "../../schema/config.ts";
import { eventually } from "../support/app/eventually.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { prepare, start } from "../support/app/process.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { openReceiver } from "../support/servers/receiver.ts";
import { sessionOn } from "../support/client/transfer.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("Webhooks for operators", TIMED, async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  await using receiver = openReceiver();
  const org = await app.organization();
  const sender = app.sender({ WEBHOOK_ALLOWED_TARGETS: "127.0.0.1" });
  const handler = app.variant({ sender });
  const database = app.database.for({ deadline: performance.now() + 600_000 });
  const ids: string[] = [];
  for (const enabled of [true, false]) {
    const response = await handler(
      new Request("http://catalogue.test/api/webhooks", {
        method: "POST",
        headers: { "x-api-key": org.key, "content-type": "application/json" },
        body: JSON.stringify({ url: receiver.url, enabled }),
      }),
    );
    ids.push((await response.json()).data.id);
  }
  const doctor = async () => (await examine(database, readConfig(() => undefined))).webhooks!;
  const list = (...args: string[]) => COMMANDS["webhook list"]!.parse(args)(sessionOn(app));

  await it("are listed with their hosts, without secrets", async () => {
    const rows = JSON.parse(String(await list("--json")));
    const { id: other } = await app.organization();
    const others = await list("--organization", other);

    assertEquals(
      rows.map(({ id, host, state, waiting }: Record<string, unknown>) => (
        { id, host, state, waiting }
      )),
      [
        { id: ids[0], host: "127.0.0.1", state: "sending", waiting: 0 },
        { id: ids[1], host: "127.0.0.1", state: "by_hand", waiting: 0 },
      ],
    );
    assertEquals(/whsec_|token/.test(JSON.stringify(rows)), false);
    assertEquals(others, "None");
  });

  await it("are a line of the doctor", async () => {
    const { ok, finding } = await doctor();

    assertEquals(ok, true);
    assertStringIncludes(finding, `disabled by hand: ${ids[1]}`);
  });

  await it("of a copied database are disabled", async () => {
    // As in a restored dump: the place is another's.
    await sql`update change_origins set place = 'elsewhere'`;

    const { disabled } = await migrate(database);

    assertEquals(
      disabled.map(({ id, organization_id }) => [id, organization_id]),
      [[ids[0], org.id]],
    );
    const rows = await sql<
      { id: string; enabled: boolean; disabled_reason: string }[]
    >`
      select id, enabled, disabled_reason from webhooks order by id
    `;
    assertEquals(
      rows.map(({ enabled, disabled_reason }) => [enabled, disabled_reason]),
      [[false, "copied"], [false, "by_hand"]],
    );
    const { ok, finding } = await doctor();
    assertEquals(ok, false);
    assertStringIncludes(finding, `${ids[0]} of organization ${org.id}`);
  });

  await it("are noted where their receivers fail, which is no fault of the service", async () => {
    await sql`
      update webhooks set disabled_reason = 'failing' where id = ${ids[0]!}
    `;

    const { ok, finding, advice } = await doctor();

    assertEquals([ok, finding], [
      true,
      `Disabled, since their receivers fail: ${ids[0]} of organization ${org.id} (failing)`,
    ]);
    assertStringIncludes(advice!, "Once their receivers work, enable them");
  });
});

Deno.test({
  ...TIMED,
  name: "The start on a copied database logs which webhooks it disables",
}, async () => {
  const dataDir = await preparedFolder();
  const id = crypto.randomUUID();
  const { organizationId } = await prepare(
    "Harbour",
    { ...SETTINGS, url: undefined, dataDir },
    async (sql, organizationId) => {
      await sql`
        insert into webhooks (organization_id, id, url, events, secrets, enabled, cursor)
        values (
          ${organizationId}, ${id}, 'https://shop.example/hook?token=of-the-receiver',
          '{product.changed}', '[]', true, '{}'
        )
      `;
      await sql`update change_origins set place = 'elsewhere'`;
    },
  );

  await using service = await start({ DATA_DIR: dataDir });

  const lineOf = () => service.stdout.split("\n").slice(0, -1).find((text) => text.includes(id));
  await eventually(true, () => lineOf() !== undefined);
  const { level, message, reason, host, organization_id, advice } = JSON.parse(
    lineOf()!,
  );
  assertEquals(
    { level, message, reason, host, organization_id },
    {
      level: "warn",
      message: "A webhook is disabled",
      reason: "copied",
      host: "shop.example",
      organization_id: organizationId,
    },
  );
  assertStringIncludes(advice, "PUT /webhooks/{id}");
  assertEquals(service.stdout.includes("of-the-receiver"), false);
});
