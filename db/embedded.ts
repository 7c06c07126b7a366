import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";

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
 * the folder: PGlite itself would let both write, and lose one's rows.
 */
export async function openEmbedded(dataDir?: string): Promise<Embedded> {
  const lock = dataDir === undefined ? undefined : await lockFolder(dataDir);
  // Only here, so that nothing of it is loaded where PostgreSQL serves.
  const { PGlite } = await import("@electric-sql/pglite");
  const { btree_gin } = await import("@electric-sql/pglite/contrib/btree_gin");
  const { pg_trgm } = await import("@electric-sql/pglite/contrib/pg_trgm");
  const database = await PGlite.create({
    ...dataDir !== undefined && { dataDir: `${dataDir}/postgres` },
    extensions: { btree_gin, pg_trgm },
  });

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
      lock?.close();
    },
  };
}

async function lockFolder(dataDir: string): Promise<Deno.FsFile> {
  await Deno.mkdir(dataDir, { recursive: true });
  const file = await Deno.open(`${dataDir}/lock`, {
    create: true,
    write: true,
  });
  if (await file.tryLock(true)) return file;
  file.close();
  throw new Error(
    `DATA_DIR "${dataDir}" is in use by another process: stop that one first, or set DATA_DIR to another folder`,
  );
}
