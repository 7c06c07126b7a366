import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import type { NodeFS as Files } from "@electric-sql/pglite/nodefs";
import { raw, type Result, sql, type Statement, unprepared } from "./sql.ts";

/*
 * Opens PGlite as the embedded database, locks its folder, and maintains it as autovacuum and the
 * checkpointer would.
 */

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

  const folder = dataDir === undefined ? undefined : await takeFolder(dataDir);
  const disk = { isInUse: false, isFull: false };
  const database = await PGlite.create({
    ...folder && { fs: await openFiles(folder.database, disk) },
    extensions: { btree_gin, pg_trgm },
  }).catch((cause) => {
    folder?.release();
    const reason = disk.isFull
      ? "the disk is full"
      : "it is damaged, or another release created it";
    throw new Error(`The database in DATA_DIR cannot be opened: ${reason}`, {
      cause,
    });
  });
  disk.isInUse = true;
  await folder?.keep();

  return {
    socket: () =>
      openEmbeddedSocket(
        (message, onReply) =>
          // `execProtocolRaw` of PGlite 0.5.16 would parse each reply and keep it in memory
          // (electric-sql/pglite#1025).
          database.execProtocolRawStream(message, { onRawData: onReply }),
        // All connections share a session, so a closed one must leave no open transaction.
        () => database.exec("rollback"),
      ),
    async close() {
      disk.isInUse = false;
      await database.close();
      folder?.release();
    },
  };
}

const TERMINATE = "X".charCodeAt(0);

/** A socket that passes messages to `exchange`, and its replies to the driver. */
function openEmbeddedSocket(
  exchange: (
    message: Uint8Array,
    onReply: (bytes: Uint8Array) => void,
  ) => Promise<unknown>,
  onClose: () => Promise<unknown>,
): Duplex {
  const duplex = new Duplex({
    read() {},
    write(chunk: Uint8Array, _encoding, done) {
      if (chunk[0] === TERMINATE) {
        duplex.destroy();
        return done();
      }
      const reply: Buffer[] = [];
      exchange(chunk, (bytes) => reply.push(Buffer.from(bytes))).then(() => {
        if (!duplex.destroyed) duplex.push(Buffer.concat(reply));
        done();
      }, done);
    },
    destroy(_error, done) {
      onClose().finally(() => done(null)).catch(() => {});
    },
  });
  // postgres.js sends Terminate only if `readyState` is `open`.
  return Object.defineProperty(duplex, "readyState", {
    get: () => duplex.destroyed ? "closed" : "open",
  });
}

interface DataFolder {
  database: string;
  /** Marks the database as complete. The next start recreates an unmarked database. */
  keep(): Promise<void>;
  release(): void;
}

/**
 * Creates the folder if necessary, restricts it to its owner and locks it. Throws
 * if another process holds the lock: PGlite would let both write, and lose rows.
 */
export async function takeFolder(dataDir: string): Promise<DataFolder> {
  const lock = await lockFolder(dataDir);
  const database = `${dataDir}/postgres`;
  const unfinished = `${dataDir}/unfinished`;
  await makePrivate(dataDir);
  // A killed first start left an incomplete database, which cannot be opened.
  if (await exists(unfinished)) await removeFolder(database);
  if (!await exists(database)) {
    await Deno.writeTextFile(unfinished, "", { mode: 0o600 });
  }
  return {
    database,
    keep: () => removeFolder(unfinished),
    release: () => lock.close(),
  };
}

async function lockFolder(dataDir: string): Promise<Deno.FsFile> {
  let file;
  try {
    await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
    file = await Deno.open(`${dataDir}/lock`, {
      create: true,
      write: true,
      mode: 0o600,
    });
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `DATA_DIR must be a readable and writable folder: ${message}`,
    );
  }
  if (await file.tryLock(true)) return file;
  file.close();
  throw new FolderInUse();
}

/** Another process uses the folder, such as a running service. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse";

  constructor() {
    super(
      "DATA_DIR is in use by another process: stop that process, or set DATA_DIR to another folder",
    );
  }
}

/**
 * Restricts the folder to its owner, as PostgreSQL requires of its data directory: nobody
 * else can then reach the files in it.
 */
async function makePrivate(dataDir: string): Promise<void> {
  const { mode } = await Deno.stat(dataDir);
  if (!mode || (mode & 0o077) === 0) return;
  try {
    await Deno.chmod(dataDir, 0o700);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `DATA_DIR must belong to the user that runs the service: ${message}`,
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function removeFolder(path: string): Promise<void> {
  if (await exists(path)) await Deno.remove(path, { recursive: true });
}

interface Disk {
  /** Whether PostgreSQL is expected to keep running. */
  isInUse: boolean;
  /** Whether the last write failed because the disk is full. */
  isFull: boolean;
}

/** Emscripten's file operations, which PGlite's types omit. */
interface Runtime {
  NODEFS: { stream_ops: { write(...args: unknown[]): number } };
}

const NO_SPACE = 51;

/**
 * The files of the database. They end the process when PostgreSQL stops in use.
 *
 * After a PANIC of PostgreSQL, such as a full disk when the write-ahead log needs a
 * segment, PGlite 0.5.16 calls the dead program in an endless loop that blocks the
 * process and its signals.
 */
async function openFiles(folder: string, disk: Disk): Promise<Files> {
  const { NodeFS } = await import("@electric-sql/pglite/nodefs");

  function watchWrites(runtime: unknown): void {
    const { stream_ops } = (runtime as Runtime).NODEFS;
    const { write } = stream_ops;
    stream_ops.write = (...args) => {
      try {
        disk.isFull = false;
        return write(...args);
      } catch (error) {
        disk.isFull = (error as { errno?: number }).errno === NO_SPACE;
        throw error;
      }
    };
  }

  function onEnd(): void {
    if (!disk.isInUse) return;
    const reason = disk.isFull ? "the disk is full" : "it is damaged";
    console.error(
      `The database in DATA_DIR has stopped: ${reason}. Acknowledged writes are safe: remove the cause and start again`,
    );
    Deno.exit(1);
  }

  return new class extends NodeFS {
    override async init(...args: Parameters<Files["init"]>) {
      const { emscriptenOpts } = await super.init(...args);
      return {
        emscriptenOpts: {
          ...emscriptenOpts,
          preRun: [...[emscriptenOpts.preRun ?? []].flat(), watchWrites],
          onAbort: onEnd,
          onExit: onEnd,
        },
      };
    }
  }(folder);
}

/**
 * The tables with as many changes as autovacuum waits for, by its default settings, and
 * PostgreSQL's own tables too: each ANALYZE changes `pg_statistic`. Before its first
 * ANALYZE, a table has -1 rows. A table is vacuumed with its TOAST table.
 */
const changedTables = sql<{ name: string }>`
  select s.relid::regclass::text as name
  from pg_stat_all_tables s
  join pg_class c on c.oid = s.relid
  cross join greatest(c.reltuples, 0) as rows
  where s.schemaname <> 'pg_toast' and (
    s.n_dead_tup > 50 + 0.2 * rows
    or s.n_ins_since_vacuum > 1000 + 0.2 * rows
    or s.n_mod_since_analyze > 50 + 0.1 * rows
  )
`;

/** A row if the write-ahead log since the last checkpoint is long. */
const overdueCheckpoint = sql`
  select from pg_control_checkpoint()
  where pg_current_wal_lsn() - redo_lsn >= pg_size_bytes('64MB')
`;

type RunStatement = <S extends Statement>(statement: S) => Promise<Result<S>>;

/**
 * Does for the embedded database what autovacuum and the checkpointer do on a server:
 * reclaims the space of old rows, renews the planner's statistics, and lets PostgreSQL
 * reuse its write-ahead log. Otherwise every update would enlarge the files, and the
 * start after a crash would replay the whole log. Requests wait for one table at most.
 */
export async function maintain(queries: { scan: RunStatement }): Promise<void> {
  for (const { name } of await queries.scan(changedTables)) {
    await queries.scan(unprepared(sql`vacuum (analyze) ${raw(name)}`));
  }
  const overdue = await queries.scan(overdueCheckpoint);
  if (overdue.length > 0) await queries.scan(unprepared(sql`checkpoint`));
}
