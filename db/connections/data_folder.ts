/** The folder of the embedded database, locked by this process. */
export interface DataFolder {
  /** The path of the database itself. */
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
  await makePrivate(dataDir, database);
  // A killed first start left an incomplete database, which cannot be opened.
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
  throw new Error(
    "DATA_DIR is in use by another process: stop that process, or set DATA_DIR to another folder",
  );
}

/**
 * Restricts the folder to its owner, as PostgreSQL requires of its data directory.
 * Earlier releases gave all users access to it and its files.
 */
async function makePrivate(dataDir: string, database: string): Promise<void> {
  const { mode } = await Deno.stat(dataDir);
  if (!mode || (mode & 0o077) === 0) return;
  try {
    if (await exists(database)) await makeFilesPrivate(database);
    await Deno.chmod(dataDir, 0o700);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `DATA_DIR must belong to the user that runs the service: ${message}`,
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
