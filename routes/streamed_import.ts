import type { Queries } from "../db/database.ts";
import { type Admitted, checkReady } from "../middleware/guard.ts";
import { ApiError } from "../schema/errors.ts";

/* What imports share that read their body as it arrives, and write it group by group. */

/** What an import asks of its request. */
export interface Stream {
  /** Begins the time of a group, which is that of a request. */
  queries: () => Queries;
  /** Lets other requests run. Throws `SERVICE_UNAVAILABLE` while the service stops. */
  pace: () => Promise<void>;
  /** Admits a group, as long as the credentials are valid, and holds its memory. */
  admit: () => Promise<Disposable>;
}

/** The memory for a group that is written. */
const GROUP_BYTES = 16 * 2 ** 20;

/** The time that an import waits for memory. */
const MEMORY_WAIT_MS = 60_000;

/** Until when an import waits for memory from now on. */
export function memoryDeadline(): number {
  return performance.now() + MEMORY_WAIT_MS;
}

/** Runs an import. Each group has the time of a request, and so has the response. */
export async function streamImport<T>(
  context: Admitted,
  run: (stream: Stream) => Promise<T>,
): Promise<T> {
  const { services, shares, caller, author } = context;
  const deadline = () => performance.now() + services.deadlineMs;
  const letOthersRun = shares.parsing.pacer(caller);
  try {
    return await run({
      queries: () => services.database.for({ deadline: deadline(), caller, author }),
      async pace() {
        checkReady(services);
        await letOthersRun();
      },
      async admit() {
        context.deadline = deadline();
        await context.checkCredentials();
        const end = memoryDeadline();
        return await shares.texts.enter(caller, "long", end, GROUP_BYTES);
      },
    });
  } finally {
    context.deadline = deadline();
  }
}

/** The error that has ended an import, with the report on what was written before, if anything. */
export function importError(
  { code, message, details, headers }: ApiError,
  cause: unknown,
  report: object | undefined,
): ApiError {
  return new ApiError(code, message, {
    cause,
    details,
    headers,
    ...report && { report },
  });
}
