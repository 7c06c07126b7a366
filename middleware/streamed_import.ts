import type { Queries } from "../db/database.ts";
import { type Admitted, checkReady } from "./guard.ts";
import { ApiError } from "../schema/errors.ts";
import { IMPORT_GROUP_BYTES } from "../db/sizes.ts";
import type { Pace } from "../schema/turns.ts";

/*
 * Runs an import: a request whose body is read as it arrives and written in groups, such as a hundred
 * records. Each group is a transaction with the time limit of a request, and checks the credentials
 * again.
 *
 * A caller that has sent everything and lost its connection looks later at what was written: its
 * import goes on. Deno 2.9.6 aborts `request.signal` over HTTP/1 only while a body is waited for, or
 * once a response has begun.
 */

/** The functions that an import calls while it runs. */
export interface Stream {
  /** Returns queries with the time limit of a request, from now on. */
  queries: () => Queries;
  /**
   * Lets other requests run. Throws `SERVICE_UNAVAILABLE` while the service stops, and
   * `REQUEST_TIMEOUT` if it is known that the client has closed the connection.
   */
  pace: Pace;
  /** Checks the credentials before a group, and holds memory for it. */
  admit: () => Promise<Disposable>;
}

/** The time that an import waits for memory. */
const MEMORY_WAIT_MS = 60_000;

/** The time until which an import waits for memory, in milliseconds of `performance.now()`. */
function memoryDeadline(): number {
  return performance.now() + MEMORY_WAIT_MS;
}

/** Runs an import. The response, too, has the time limit of a request. */
export async function streamImport<T>(
  context: Admitted,
  run: (stream: Stream) => Promise<T>,
): Promise<T> {
  const { services, shares, caller, author, request } = context;
  const deadline = () => performance.now() + services.deadlineMs;
  const letOthersRun = shares.parsing.pacer(caller);
  try {
    return await run({
      queries: () => services.database.for({ deadline: deadline(), caller, author }),
      async pace() {
        await letOthersRun();
        // The client may have gone meanwhile.
        checkReady(services);
        checkClient(request);
      },
      async admit() {
        checkClient(request);
        context.deadline = deadline();
        await context.checkCredentials();
        const end = memoryDeadline();
        return await shares.texts.enter(caller, "long", end, IMPORT_GROUP_BYTES);
      },
    });
  } finally {
    context.deadline = deadline();
  }
}

/** Throws `REQUEST_TIMEOUT` if the client has closed the connection. */
function checkClient({ signal }: Request): void {
  if (signal.aborted) {
    throw new ApiError("REQUEST_TIMEOUT", "The client has closed the connection");
  }
}

/** The error that ended an import, with the report on what was written before it, if anything. */
export function importError(
  { code, message, hint, details, headers }: ApiError,
  cause: unknown,
  report: object | undefined,
): ApiError {
  return new ApiError(code, message, {
    cause,
    hint,
    details,
    headers,
    ...report && { report },
  });
}
