/** The folder of the embedded database, in the hands of this process alone. */
export interface DataFolder {
  /** Where the database itself is, or is to be made. */
  database: string;
  /** Says that the database is made; until then a new start begins anew. */
  keep(): Promise<void>;
  release(): void;
}

/**
 * Takes the folder, making it where there is none. Throws when another process
 * has it: PGlite itself would let both write, and lose one's rows.
 */
export async function takeFolder(dataDir: string): Promise<DataFolder> {
  const lock = await lockIn(dataDir);
  const database = `${dataDir}/postgres`;
  const unfinished = `${dataDir}/unfinished`;
  // A first start that was killed left half a database, which nothing can open.
  if (await exists(unfinished)) await remove(database);
  if (!await exists(database)) await Deno.writeTextFile(unfinished, "");
  return {
    database,
    keep: () => remove(unfinished),
    release: () => lock.close(),
  };
}

async function lockIn(dataDir: string): Promise<Deno.FsFile> {
  let file;
  try {
    await Deno.mkdir(dataDir, { recursive: true });
    file = await Deno.open(`${dataDir}/lock`, { create: true, write: true });
  } catch (error) {
    const { name } = error as Error;
    throw new Error(
      `DATA_DIR must be a folder that may be read and written: ${name}`,
    );
  }
  if (await file.tryLock(true)) return file;
  file.close();
  throw new Error(
    "DATA_DIR is in use by another process: stop that one first, or set DATA_DIR to another folder",
  );
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function remove(path: string): Promise<void> {
  if (await exists(path)) await Deno.remove(path, { recursive: true });
}
