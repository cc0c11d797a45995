/** Restarts the server of `scripts/with-postgres.ts`. Prints the process id of the server before and after it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { restartPostgres } from "./postgres-server.ts";

printPid();
await restartPostgres();
printPid();

function printPid(): void {
  const file = join(process.env["WINK_POSTGRES_DATA"] ?? "", "postmaster.pid");
  process.stdout.write(`${Number.parseInt(readFileSync(file, "utf8"), 10)}\n`);
}
