import { getErrorMessage } from "../../base/errors.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import { FleetError } from "../fleet-error.ts";

/**
 * Calls `work` with a client for the open transaction of `sql`, which refuses statements after `work` has returned.
 * Throws `FleetError` if `work` has ignored the error of a statement: PostgreSQL answers the COMMIT of such a
 * transaction with a silent rollback.
 */
export async function runTransaction<Result>(
  sql: SqlClient,
  work: (sql: SqlClient) => Promise<Result>,
): Promise<Result> {
  const failures: unknown[] = [];
  let isOver = false;
  const query: SqlClient["query"] = async (text, params) => {
    if (isOver) throw new FleetError(`${OVER}: ${text.slice(0, 60)}. ${AWAIT}`);
    try {
      return await sql.query(text, params);
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  try {
    const result = await work({ query });
    if (failures.length > 0) await checkUsable(sql, failures[0]);
    return result;
  } finally {
    isOver = true;
  }
}

const OVER = "The transaction of this statement has ended";
const AWAIT = "Await all statements before the function of the transaction returns.";

/** Statements may fail without harm after a SAVEPOINT. */
async function checkUsable(sql: SqlClient, cause: unknown): Promise<void> {
  try {
    await sql.query("select 1");
  } catch {
    throw new FleetError(
      `The transaction is rolled back, because a statement in it failed: ${getErrorMessage(cause)}. ` +
        "Let the error leave the function of the transaction, or use a savepoint.",
      { cause },
    );
  }
}
