import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { takeFolder } from "./data_folder.ts";

/** The first byte of the Terminate message. */
const TERMINATE = "X".charCodeAt(0);

/** A PostgreSQL inside this process, with sockets for postgres.js. */
export interface Embedded {
  socket(): Duplex;
  close(): Promise<void>;
}

/**
 * Opens the database in `dataDir`, or in memory if `dataDir` is absent. It has a
 * single session, so operations take turns. Throws if another process uses the
 * folder or the database is damaged. A later failure of the database ends the
 * process, which cannot reopen it.
 */
export async function openEmbedded(dataDir?: string): Promise<Embedded> {
  // A service with a PostgreSQL server does not load PGlite.
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
      : "it is damaged, or another release created it";
    throw new Error(`The database in DATA_DIR cannot be opened: ${reason}`, {
      cause,
    });
  });
  if (files) files.isInUse = true;
  await folder?.keep();

  /** Synchronous, since the dead database blocks the event loop: see `EmbeddedFiles`. */
  function endProcess(): never {
    const reason = files?.isFull ? "the disk is full" : "it is damaged";
    console.error(
      `The database in DATA_DIR has stopped: ${reason}. Acknowledged writes are safe: remove the cause and start again`,
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
        // `execProtocolRaw` of PGlite 0.5.16 would parse each reply and keep it in
        // memory (electric-sql/pglite#1025).
        const reply: Buffer[] = [];
        database.execProtocolRawStream(chunk, {
          onRawData: (bytes) => reply.push(Buffer.from(bytes)),
        }).then(() => {
          if (!duplex.destroyed) duplex.push(Buffer.concat(reply));
          done();
        }, done);
      },
      // All connections share a session, so a closed one must leave no open transaction.
      destroy(_error, done) {
        database.exec("rollback").finally(() => done(null)).catch(() => {});
      },
    });
    // postgres.js sends Terminate only if `readyState` is `open`.
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
