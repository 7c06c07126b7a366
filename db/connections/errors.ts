/*
 * Classifies errors of PostgreSQL, the driver and the network: which transaction can be retried,
 * which connection must be replaced, which error a value of the request has caused.
 */

/** The fields of PostgreSQL and driver errors that this file reads. */
interface DatabaseError {
  code?: string;
  message?: string;
  detail?: string;
  constraint_name?: string;
  severity?: string;
  /** The function of the server that failed. */
  routine?: string;
}

/** Codes of the driver, the network and PostgreSQL. File errors are not included. */
const CONNECTION_LOSS = /^(CONN|ECONN|EHOST|ENET|EADDR|EAI|EPIPE|ENOTFOUND|ETIMEDOUT|08|57P0)/;

/**
 * The violated constraint of an error. Citus names it only in the message, followed
 * by a shard number, and reports some violations as XX000. The messages of other
 * errors may quote a client's value.
 */
export function brokenConstraint(error: unknown): string | undefined {
  const { constraint_name, message = "" } = (error ?? {}) as DatabaseError;
  const isViolation = /^(23|XX)...$/.test(sqlState(error));
  const named = isViolation ? /constraint "([^"]+)"/.exec(message) : null;
  return (constraint_name ?? named?.[1])?.replace(/_\d{6,}$/, "");
}

/** Whether the organization does not exist: SQL deleted it, or is replacing its row. */
export function isOfUnknownOrganization(error: unknown): boolean {
  return brokenConstraint(error)?.endsWith("_organization") ?? false;
}

/**
 * Thrown if other transactions have changed rows that this one has read. It counts as a conflict,
 * like a serialization failure: a retry reads the changes.
 */
export class ChangedMeanwhile extends Error {
  readonly code = "40001";

  constructor(cause: unknown) {
    super("Other transactions have changed the rows meanwhile", { cause });
  }
}

/** Whether the transaction has waited, while a later one has changed a product that it writes. */
export function isLate(error: unknown): boolean {
  return brokenConstraint(error) === "version_last";
}

/**
 * Whether a retry of the transaction can succeed: serialization failure, deadlock, a version
 * that is not the last one, a random product code that exists already, or an organization
 * that SQL replaces.
 */
export function isConflict(error: unknown): boolean {
  const code = sqlState(error);
  return code === "40001" || code === "40P01" ||
    brokenConstraint(error) === "products_code" ||
    isLate(error) || isOfUnknownOrganization(error);
}

/** Whether the connection was lost or impossible, or the server was stopping or starting. */
export function isConnectionLoss(error: unknown): boolean {
  return CONNECTION_LOSS.test(sqlState(error));
}

/**
 * Whether the connection must be replaced: it is lost, the server ended it, or its
 * server is a standby. A new connection may reach the new primary.
 */
export function requiresNewConnection(error: unknown): boolean {
  const { severity } = (error ?? {}) as DatabaseError;
  return severity === "FATAL" || isConnectionLoss(error) || isOfStandby(error);
}

/** Whether a standby refused a write (25006) or BEGIN READ WRITE (0A000). */
function isOfStandby(error: unknown): boolean {
  const { routine } = (error ?? {}) as DatabaseError;
  return sqlState(error) === "25006" ||
    sqlState(error) === "0A000" && routine === "call_bool_check_hook";
}

/**
 * Whether a later retry may succeed: the connection was lost, there are too many
 * connections (53300), a lock or statement timed out (55P03, 57014), or the server is a
 * standby.
 */
export function isTransient(error: unknown): boolean {
  return isConnectionLoss(error) || isOfStandby(error) ||
    ["53300", "55P03", "57014"].includes(sqlState(error));
}

/**
 * Whether PostgreSQL has no room left for what a statement writes (53100), or for the cache that a
 * new session writes: PostgreSQL 16 and older report that as an internal error.
 */
export function isDiskFull(error: unknown): boolean {
  const { routine = "" } = (error ?? {}) as DatabaseError;
  return sqlState(error) === "53100" ||
    sqlState(error) === "XX000" && ["write_relcache_init_file", "write_item"].includes(routine);
}

/** Whether another transaction held a lock for too long (55P03). */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/** Whether the server cancelled the statement: it took longer than `statement_timeout` (57014). */
export function isCancelled(error: unknown): boolean {
  return sqlState(error) === "57014";
}

/**
 * Whether a value of the statement caused the error: cardinality violation (21),
 * data exception (22), integrity constraint violation (23), or program limit
 * exceeded (54). An unknown organization and a late transaction do not count.
 */
export function isDataError(error: unknown): boolean {
  return /^(21|22|23|54)...$/.test(sqlState(error)) &&
    !isLate(error) && !isOfUnknownOrganization(error);
}

/** Whether PostgreSQL reported the error. */
export function isDatabaseError(error: unknown): boolean {
  return (error as Error | undefined)?.name === "PostgresError";
}

function sqlState(error: unknown): string {
  return String((error as DatabaseError | undefined)?.code ?? "");
}

/**
 * Advice for the operator about an error of a connection or its role, or undefined for
 * other errors.
 */
export function connectionAdvice(error: unknown): string | undefined {
  const { code = "", message = "" } = (error ?? {}) as {
    code?: string;
    message?: string;
  };
  if (message.startsWith("unsupported startup parameter")) {
    return "Set DATABASE_PREPARE=false: this is PgBouncer";
  }
  if (message.startsWith("unrecognized configuration parameter")) {
    return "Remove this parameter from DATABASE_URL: only libpq knows it";
  }
  if (message.startsWith("Client network socket disconnected")) {
    return "The server ended the connection instead of beginning TLS: turn TLS on there (ssl = on), or remove sslmode from DATABASE_URL";
  }
  if (/CERT|VERIFY/.test(code)) {
    return "Set DENO_CERT to the certificate of the CA, and use the host name of the server's certificate";
  }
  if (code.startsWith("28")) {
    return "Check the user and the password in DATABASE_URL, and pg_hba.conf";
  }
  if (code === "42501") {
    return "Make the role the owner of the database, or grant what deno task doctor names";
  }
  if (code === "42704" && message.startsWith("operator class")) {
    return "The role cannot use the extensions: deno task doctor says how to change that";
  }
  if (code === "3D000") {
    return "Check the name of the database in DATABASE_URL";
  }
  if (isDiskFull(error)) {
    return 'Free space on the disk of the database: OPERATORS.md says how, under "A full disk"';
  }
  if (isConnectionLoss(error)) {
    return "Check DATABASE_URL, and that PostgreSQL runs and accepts connections from this machine";
  }
}
