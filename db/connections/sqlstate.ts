/** The fields of a PostgreSQL error that are read here, whoever threw it. */
interface DatabaseError {
  code?: string;
  message?: string;
  detail?: string;
  constraint_name?: string;
  severity?: string;
  /** The function of the server that failed. */
  routine?: string;
}

/**
 * The constraint that the error names, whatever its SQLSTATE says: a
 * distributed database names it in the message only, with a shard's number
 * behind it, and answers XX000 for some.
 */
export function brokenConstraint(error: unknown): string | undefined {
  const { constraint_name, message } = (error ?? {}) as DatabaseError;
  const name = constraint_name ??
    /constraint "([^"]+)"/.exec(message ?? "")?.[1];
  return name?.replace(/_\d{6,}$/, "");
}

/**
 * Whether the whole transaction is worth another try: serialization failure,
 * deadlock, or a product code that was drawn before.
 */
export function isConflict(error: unknown): boolean {
  const code = sqlState(error);
  return code === "40001" || code === "40P01" ||
    brokenConstraint(error) === "products_code";
}

/** Whether the connection was lost, or the server was stopping or starting. */
export function isConnectionLoss(error: unknown): boolean {
  return /^(CONNECTION_|CONNECT_|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EHOSTUNREACH|08|57P0)/
    .test(sqlState(error));
}

/** Whether the server has said that it ends the session. */
export function isFatal(error: unknown): boolean {
  return (error as DatabaseError | undefined)?.severity === "FATAL";
}

/**
 * Whether the connection is of no more use: lost, ended by the server, or to a
 * standby, while the name may lead to another server by now.
 */
export function endsSession(error: unknown): boolean {
  return isConnectionLoss(error) || isFatal(error) || isOfStandby(error);
}

/** Whether a standby refuses to write: a statement (25006), or the setting that BEGIN READ WRITE is (0A000). */
function isOfStandby(error: unknown): boolean {
  const { routine } = (error ?? {}) as DatabaseError;
  return sqlState(error) === "25006" ||
    sqlState(error) === "0A000" && routine === "call_bool_check_hook";
}

/**
 * Whether trying again later may well help: the connection was lost, there are
 * too many (53300), a lock or the statement took too long (55P03, 57014), the
 * server is a standby for now, or retries did not settle a conflict.
 */
export function isTransient(error: unknown): boolean {
  return isConnectionLoss(error) || isConflict(error) || isOfStandby(error) ||
    ["53300", "55P03", "57014", "25P03"].includes(sqlState(error));
}

/**
 * Whether the values of a statement are at fault: their form (21, 22), a
 * constraint (23), or their size (54). An unknown organization is not the fault
 * of a value.
 */
export function isRefusal(error: unknown): boolean {
  return /^(21|22|23|54)...$/.test(sqlState(error)) &&
    !brokenConstraint(error)?.endsWith("_organization");
}

/** Why values were refused, in one line; the detail of a check is the whole row, and left out. */
export function refusalOf(error: unknown): string {
  const { message, detail } = error as DatabaseError;
  const isKey = /^23(503|505)$/.test(sqlState(error));
  return isKey && detail ? `${message}: ${detail}` : String(message);
}

/** Whether the error came from the database or the way to it. */
export function isDatabaseFault(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(sqlState(error)) || isConnectionLoss(error) ||
    (error as Error | undefined)?.name === "PostgresError";
}

function sqlState(error: unknown): string {
  return String((error as DatabaseError | undefined)?.code ?? "");
}
