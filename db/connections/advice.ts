import { isConnectionLoss } from "./sqlstate.ts";

/**
 * Advice for the operator about a connection error, or undefined for other errors.
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
  if (/CERT|VERIFY/.test(code)) {
    return "Set DENO_CERT to the certificate of the CA, and use the host name of the server's certificate";
  }
  if (code.startsWith("28")) {
    return "Check the user and the password in DATABASE_URL, and pg_hba.conf";
  }
  if (code === "3D000") {
    return "Check the name of the database in DATABASE_URL";
  }
  if (isConnectionLoss(error)) {
    return "Check DATABASE_URL, and that PostgreSQL runs and accepts connections from this machine";
  }
}
