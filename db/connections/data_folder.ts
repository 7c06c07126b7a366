/** The folder of the embedded database, locked by this process. */
export interface DataFolder {
  /** Path of the database itself. */
  database: string;
  /** Marks the database as complete. Without the mark, the next start makes it anew. */
  keep(): Promise<void>;
  release(): void;
}

/**
 * Locks the folder, or makes it, and takes the rights of all users but its owner.
 * Throws when another process holds it: PGlite itself would let both write, and
 * lose rows.
 */
export async function takeFolder(dataDir: string): Promise<DataFolder> {
  const lock = await lockIn(dataDir);
  const database = `${dataDir}/postgres`;
  const unfinished = `${dataDir}/unfinished`;
  await makePrivate(dataDir, database);
  // A first start that was killed left half a database, which cannot be opened.
  if (await exists(unfinished)) await remove(database);
  if (!await exists(database)) {
    await Deno.writeTextFile(unfinished, "", { mode: 0o600 });
  }
  return {
    database,
    keep: () => remove(unfinished),
    release: () => lock.close(),
  };
}

async function lockIn(dataDir: string): Promise<Deno.FsFile> {
  let file;
  try {
    await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
    file = await Deno.open(`${dataDir}/lock`, {
      create: true,
      write: true,
      mode: 0o600,
    });
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

/**
 * Leaves the folder to its owner alone, as PostgreSQL demands of its data
 * directory. Earlier releases left it, and the files in it, to all users.
 */
async function makePrivate(dataDir: string, database: string): Promise<void> {
  const { mode } = await Deno.stat(dataDir);
  if (!mode || (mode & 0o077) === 0) return;
  try {
    if (await exists(database)) await makeFilesPrivate(database);
    await Deno.chmod(dataDir, 0o700);
  } catch (error) {
    throw new Error(
      `DATA_DIR must belong to the user who runs the service: ${
        (error as Error).name
      }`,
    );
  }
}

async function makeFilesPrivate(folder: string): Promise<void> {
  await Deno.chmod(folder, 0o700);
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await makeFilesPrivate(path);
    else await Deno.chmod(path, 0o600);
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function remove(path: string): Promise<void> {
  if (await exists(path)) await Deno.remove(path, { recursive: true });
}
