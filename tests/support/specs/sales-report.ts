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
import { given, printed } from "./model-reads.ts";

/** The third story of the hosted tools: SQL of one's own beside code and searches of the provider's. */

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

/** Two months of sales, and what was asked of them. */
export function salesDatabase(): Database & Disposable & { readonly asked: readonly string[] } {
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

/** Where the web tells what growth is. */
export const growth = "https://docs.example/growth";

/** Goes by its results: its code is over the rows that the query gave, its answer is what that printed. */
export function analyst(request: ModelRequest): readonly ModelAction[] {
  const sql = "SELECT month, total FROM sales ORDER BY month";
  const [rows, ratio] = [given(request)?.split("\n\n")[1], printed(request)];
  if (rows === undefined)
    return [{ search: { web: "sales growth" } }, { call: { name: "run_query", args: { sql } } }];
  if (ratio === null)
    return [{ code: `old, new = ${rows}["rows"]\nprint(new["total"] / old["total"])` }];
  const answer = { summary: `Up, by ${growth}`, growth: Number(ratio) };
  return [{ search: { open: growth } }, { say: answer, citations: [{ hit: 0 }] }];
}
