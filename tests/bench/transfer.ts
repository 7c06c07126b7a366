import { type Database, openDatabase } from "../../db/database.ts";
import { exportCatalogue } from "../../db/transfer/export.ts";
import { importCatalogue } from "../../db/transfer/import.ts";
import { uuidv7 } from "../../db/uuid.ts";
import type { Organization } from "./dataset.ts";

/** The products per second of an export, and of an import into a new organization. */
export async function measureTransfer(
  url: string,
  { id, products }: Organization,
): Promise<{ exported: number; imported: number }> {
  const database = await openDatabase({
    url,
    poolSize: 1,
    statementTimeoutMs: 60_000,
    prepare: true,
  });
  try {
    const lines: string[] = [];
    const exportSeconds = await secondsOf(() =>
      exportCatalogue(operationsOf(database, id), {
        write: (text) => Promise.resolve(lines.push(text) > 0),
      })
    );
    const file = new Blob(lines).stream();
    const importSeconds = await secondsOf(() =>
      importCatalogue(operationsOf(database, uuidv7()), file, {
        refused(number, reason) {
          throw new Error(`Line ${number}: ${reason}`);
        },
        progress() {},
      })
    );
    return {
      exported: products / exportSeconds,
      imported: products / importSeconds,
    };
  } finally {
    await database.close();
  }
}

function operationsOf(database: Database, organizationId: string) {
  return database.for({
    deadline: performance.now() + 3_600_000,
    caller: {
      organizationId,
      name: "benchmark",
    },
  });
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
