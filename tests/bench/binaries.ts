import { join } from "node:path";

/** Where Debian's packages of PostgreSQL put their programs. */
const VERSIONS = "/usr/lib/postgresql";

/** The path of a program of the newest PostgreSQL that is installed. Throws where none is. */
export function binary(program: string): string {
  const [newest] = Array.from(
    Deno.readDirSync(VERSIONS),
    ({ name }) => Number(name),
  )
    .sort((a, b) => b - a);
  return join(VERSIONS, String(newest), "bin", program);
}
