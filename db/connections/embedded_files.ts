import { NodeFS } from "@electric-sql/pglite/nodefs";

/** Emscripten's ENOSPC. */
const NO_SPACE = 51;

/** The permission bits of the group and of others. */
const OTHERS = 0o077;

/** Emscripten's file operations, which PGlite's types omit. */
interface Runtime {
  NODEFS: {
    node_ops: {
      mknod(parent: unknown, name: string, mode: number, dev: number): unknown;
      setattr: SetAttributes;
    };
    stream_ops: {
      setattr: SetAttributes;
      write(...args: unknown[]): number;
    };
  };
}

type SetAttributes = (file: unknown, attributes: { mode?: number }) => void;

/**
 * The files of the embedded database. Only their owner has access, as with
 * PostgreSQL.
 *
 * After a PANIC of PostgreSQL, such as a full disk when the write-ahead log needs a
 * segment, PGlite 0.5.16 calls the dead program in an endless loop that blocks the
 * process and its signals. So the PANIC calls `fail`, which must end the process.
 */
export class EmbeddedFiles extends NodeFS {
  readonly #fail: () => never;
  /** Whether PostgreSQL is expected to keep running. */
  isInUse = false;
  /** Whether the last write failed because the disk is full. */
  isFull = false;

  constructor(folder: string, fail: () => never) {
    super(folder);
    Deno.chmodSync(folder, 0o700);
    this.#fail = fail;
  }

  override async init(...args: Parameters<NodeFS["init"]>) {
    const { emscriptenOpts } = await super.init(...args);
    const end = () => {
      if (this.isInUse) this.#fail();
    };
    const prepare = (runtime: unknown) => this.#prepare(runtime as Runtime);
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [...[emscriptenOpts.preRun ?? []].flat(), prepare],
        onAbort: end,
        onExit: end,
      },
    };
  }

  #prepare({ NODEFS: { node_ops, stream_ops } }: Runtime): void {
    const { mknod } = node_ops;
    node_ops.mknod = (parent, name, mode, dev) =>
      mknod(parent, name, mode & ~OTHERS, dev);
    node_ops.setattr = makePrivate(node_ops.setattr);
    stream_ops.setattr = makePrivate(stream_ops.setattr);
    const { write } = stream_ops;
    stream_ops.write = (...args) => {
      try {
        this.isFull = false;
        return write(...args);
      } catch (error) {
        this.isFull = (error as { errno?: number }).errno === NO_SPACE;
        throw error;
      }
    };
  }
}

function makePrivate(set: SetAttributes): SetAttributes {
  return (file, { mode, ...others }) =>
    set(
      file,
      mode === undefined ? others : { ...others, mode: mode & ~OTHERS },
    );
}
