import type { StatementSync } from "node:sqlite";
import { toStorageProblem } from "./storage-problem.ts";

/** A compiled statement. */
export type Statement = Pick<StatementSync, "run" | "get" | "all" | "iterate">;

/** Returns a statement whose errors name the database's folder if its disk cannot be used. */
export function explainErrors(statement: StatementSync, folder: string): Statement {
  const explain = <Values extends readonly unknown[], Result>(
    work: (...values: Values) => Result,
  ) => {
    const run = work.bind(statement);
    return (...values: Values): Result => {
      try {
        return run(...values);
      } catch (error) {
        throw toStorageProblem(error, folder);
      }
    };
  };
  return {
    run: explain(statement.run),
    get: explain(statement.get),
    all: explain(statement.all),
    iterate: explain(statement.iterate),
  } as Statement;
}
