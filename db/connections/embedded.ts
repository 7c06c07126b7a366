import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { takeFolder } from "./data_folder.ts";

/** The first byte of the message Terminate. */
const TERMINATE = "X".charCodeAt(0);

/** A PostgreSQL inside this process, with a socket that postgres.js can speak through. */
export interface Embedded {
  socket(): Duplex;
  close(): Promise<void>;
}

/**
 * Opens the database kept in `dataDir`, or one in memory without it. It has a
 * single connection, so operations take turns. Throws when another process has
 * the folder or its content cannot be opened. A database that breaks down later
 * ends the process: it cannot be opened twice in one.
 */
export async function openEmbedded(dataDir?: string): Promise<Embedded> {
  // Imported only here, so that a service with PostgreSQL loads nothing of it.
  const { PGlite } = await import("@electric-sql/pglite");
  const { btree_gin } = await import("@electric-sql/pglite/contrib/btree_gin");
  const { pg_trgm } = await import("@electric-sql/pglite/contrib/pg_trgm");
  const { EmbeddedFiles } = await import("./embedded_files.ts");

  const folder = dataDir === undefined ? undefined : await takeFolder(dataDir);
  const files = folder && new EmbeddedFiles(folder.database, endProcess);
  const database = await PGlite.create({
    ...files && { fs: files },
    extensions: { btree_gin, pg_trgm },
  }).catch((cause) => {
    folder?.release();
    const reason = files?.isFull
      ? "the disk is full"
      : "it is damaged, or another release made it";
    throw new Error(`The database in DATA_DIR cannot be opened: ${reason}`, {
      cause,
    });
  });
  if (files) files.isInUse = true;
  await folder?.keep();

  /** Runs no more JavaScript than this: see `EmbeddedFiles`. */
  function endProcess(): never {
    const reason = files?.isFull ? "the disk is full" : "it is damaged";
    console.error(
      `The database in DATA_DIR has stopped: ${reason}. Nothing acknowledged is lost: remove the cause and start again`,
    );
    Deno.exit(1);
  }

  function socket(): Duplex {
    const duplex = new Duplex({
      read() {},
      write(chunk: Uint8Array, _encoding, done) {
        if (chunk[0] === TERMINATE) {
          duplex.destroy();
          return done();
        }
        database.execProtocolRaw(chunk).then((reply) => {
          if (!duplex.destroyed) duplex.push(Buffer.from(reply));
          done();
        }, done);
      },
      // All connections share one session: the next must not find an open transaction.
      destroy(_error, done) {
        database.exec("rollback").finally(() => done(null)).catch(() => {});
      },
    });
    // postgres.js sends Terminate only to a socket that looks open.
    return Object.defineProperty(duplex, "readyState", {
      get: () => duplex.destroyed ? "closed" : "open",
    });
  }

  return {
    socket,
    async close() {
      if (files) files.isInUse = false;
      await database.close();
      folder?.release();
    },
  };
}
