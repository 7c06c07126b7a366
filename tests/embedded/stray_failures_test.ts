import { assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { start } from "../support/app/process.ts";
import { SECRETS } from "../support/app/secrets.ts";
import { TIMED } from "../support/app/deadline.ts";

interface Line {
  level: string;
  message: string;
  cause?: { name: string; at: string[] };
}

Deno.test("A service survives and logs uncaught errors", TIMED, async () => {
  const dataDir = await preparedFolder();
  SECRETS.addCredential("swordfish-swordfish");
  await using service = await start({ DATA_DIR: dataDir }, () => [
    ...[
      "run",
      "--no-prompt",
      "-A",
      "--preload",
      "./tests/support/app/stray_failures.ts",
    ],
    ...["main.ts", "start"],
  ]);

  service.signal("SIGUSR1");

  const uncaught = () =>
    service.stdout.split("\n").filter((line) => line.includes("Uncaught"))
      .map((line) => {
        const { level, message, cause } = JSON.parse(line) as Line;
        return [level, message, cause?.name, cause?.at.length !== 0];
      });
  await eventually(3, () => uncaught().length);

  assertEquals(uncaught().sort(), [
    ["error", "Uncaught error", "TypeError", true],
    ["error", "Uncaught unhandledrejection", undefined, true],
    ["error", "Uncaught unhandledrejection", "Error", true],
  ]);
  await service.until("/health/ready");
  service.signal("SIGTERM");
  assertEquals((await service.ended).code, 0);
});
