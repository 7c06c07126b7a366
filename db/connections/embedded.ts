import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { takeFolder } from "./data_folder.ts";

/** The first byte of Terminate, the frontend's goodbye. */
const TERMINATE = "X".charCodeAt(0);

/** A PostgreSQL inside this process, with a socket that postgres.js can speak through. */
export interface Embedded {
  socket(): Duplex;
  close(): Promise<void>;
}

/**
 * Opens the database kept in `dataDir`, or one in memory without it. It has a
 * single connection, so operations take turns. Throws when another process has
 * the folder, or what is in it cannot be opened.
 */
export async function openEmbedded(dataDir?: string): Promise<Embedded> {
  // Only here, so that nothing of it is loaded where PostgreSQL serves.
  const { PGlite } = await import("@electric-sql/pglite");
  const { btree_gin } = await import("@electric-sql/pglite/contrib/btree_gin");
  const { pg_trgm } = await import("@electric-sql/pglite/contrib/pg_trgm");

  const folder = dataDir === undefined ? undefined : await takeFolder(dataDir);
  const database = await PGlite.create({
    ...folder && { dataDir: folder.database },
    extensions: { btree_gin, pg_trgm },
  }).catch((cause) => {
    folder?.release();
    throw new Error(
      "The database in DATA_DIR cannot be opened: it is damaged, another release made it, or the disk is full",
      { cause },
    );
  });
  await folder?.keep();

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
      // There is one session for all: what this connection left open must not be the next one's.
      destroy(_error, done) {
        database.exec("rollback").finally(() => done(null)).catch(() => {});
      },
    });
    // postgres.js says goodbye only to a socket that looks open.
    return Object.defineProperty(duplex, "readyState", {
      get: () => duplex.destroyed ? "closed" : "open",
    });
  }

  return {
    socket,
    async close() {
      await database.close();
      folder?.release();
    },
  };
}
