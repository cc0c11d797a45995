import { PostgresServer } from "../../../scripts/postgres/postgres-server.ts";

export { findPostgresPrograms, startPostgres } from "../../../scripts/postgres/start-postgres.ts";

/**
 * Crashes the server of `scripts/with-postgres.ts` and starts it again on the same port. Tests that run at the same
 * time lose their connections: use `startPostgres()` for a server that no other test uses.
 */
export async function restartPostgres(): Promise<void> {
  await findSharedServer().restart();
}

function findSharedServer(): PostgresServer {
  const url = process.env["WINK_POSTGRES"];
  const data = process.env["WINK_POSTGRES_DATA"];
  const programs = process.env["WINK_POSTGRES_PROGRAMS"];
  if (url === undefined || data === undefined || programs === undefined) {
    throw new Error("run the tests with scripts/with-postgres.ts");
  }
  return new PostgresServer({ url, data, programs });
}
