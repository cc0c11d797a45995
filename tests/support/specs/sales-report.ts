import { DatabaseSync } from "node:sqlite";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  resource,
  Tool,
  type ToolContext,
  ToolResult,
} from "weakincentives";
import type { ModelAction, ModelRequest } from "weakincentives/local";
import * as z from "zod";
import { readFunctionOutput, readPrinted } from "./model-reads.ts";

/**
 * The third example of the hosted tools specification: a local SQL tool next to the provider's code
 * and search tools.
 */

export interface Database {
  execute(sql: string): readonly Record<string, unknown>[];
}

export const databaseConnection = resource<Database>("database connection");

const QueryParams = z.strictObject({ sql: z.string() });
const QueryResult = z.object({
  rows: z.array(z.record(z.string(), z.unknown())),
  rowCount: z.int(),
});
const AnalysisResult = z.object({ summary: z.string(), growth: z.number() });

function runQuery(
  { sql }: z.infer<typeof QueryParams>,
  { resources }: ToolContext,
): ToolResult<z.infer<typeof QueryResult>> {
  const rows = [...resources.get(databaseConnection).execute(sql)];
  return ToolResult.ok({ rows, rowCount: rows.length }, `Query returned ${rows.length} rows`);
}

const queryTool = new Tool({
  name: "run_query",
  description: "Execute SQL query against the analytics database",
  params: QueryParams,
  result: QueryResult,
  handler: runQuery,
});

export const report = new Prompt(
  new PromptTemplate({
    ns: "analytics",
    key: "report",
    output: AnalysisResult,
    sections: [
      new MarkdownSection({
        title: "Task",
        key: "task",
        template: "Analyze sales trends using SQL queries and Python.",
        tools: [queryTool],
      }),
    ],
  }),
);

/** Creates a database with two months of sales, which records its queries. */
export function createSalesDatabase(): Database &
  Disposable & { readonly asked: readonly string[] } {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE sales (month TEXT, total REAL)");
  database.exec("INSERT INTO sales VALUES ('2026-05', 2), ('2026-06', 3)");
  const asked: string[] = [];
  return {
    asked,
    execute(sql) {
      asked.push(sql);
      return database.prepare(sql).all();
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/** The page of the web that defines growth. */
export const growth = "https://docs.example/growth";

/** Reacts to results: runs code on the rows of the query, and answers with the code's output. */
export function respondAsAnalyst(request: ModelRequest): readonly ModelAction[] {
  const sql = "SELECT month, total FROM sales ORDER BY month";
  const [rows, ratio] = [readFunctionOutput(request)?.split("\n\n")[1], readPrinted(request)];
  if (rows === undefined)
    return [{ search: { web: "sales growth" } }, { call: { name: "run_query", args: { sql } } }];
  if (ratio === null)
    return [{ code: `old, new = ${rows}["rows"]\nprint(new["total"] / old["total"])` }];
  const answer = { summary: `Up, by ${growth}`, growth: Number(ratio) };
  return [{ search: { open: growth } }, { say: answer, citations: [{ hit: 0 }] }];
}
