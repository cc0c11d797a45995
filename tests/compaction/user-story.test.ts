import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Tool, ToolResult } from "weakincentives";
import type { ModelAction } from "weakincentives/local";
import * as openai from "weakincentives/openai";
import { compactionSlice, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";
import { createFolder, startZeroRetentionRun } from "../support/compaction/zero-retention-run.ts";
import { readFiles } from "../support/workspace/workspace-fixture.ts";

const THRESHOLD = 3_000;
const TASKS = ["load", "clean", "model", "plot", "report"];

const read = new Tool({
  name: "read",
  description: "Reads a table.",
  params: z.strictObject({ table: z.string() }),
  handler: async ({ table }) => ToolResult.ok(null, `${table}: ${"row ".repeat(1_500)}`),
});

/** Creates a script that, for each task, reads two tables, writes a line of results and answers. */
function createAnalystScript(): () => readonly ModelAction[] {
  let step = 0;
  return () => {
    const task = TASKS[Math.floor(step / 4)] ?? "none";
    const line = `open("results.txt", "a").write("${task}\\n")`;
    const acts: readonly ModelAction[] = [
      { call: { name: "read", args: { table: `${task} one` } } },
      { call: { name: "read", args: { table: `${task} two` } } },
      { code: line },
      { say: `${task} is done.` },
    ];
    const act = acts[step++ % 4];
    return act ? [act] : [];
  };
}

describe("Story 2, a long analysis with compaction", () => {
  it("uses one session and workspace for many evaluations, stays under the threshold and syncs the results", async () => {
    const run = await startZeroRetentionRun(createAnalystScript(), {
      compaction: { thresholdTokens: THRESHOLD },
      adapter: { hostedTools: { codeInterpreter: true } },
    });
    const workspace = new OpenAIContainerWorkspaceSection({
      session: run.session,
      mounts: [{ hostPath: createFolder({ "a.csv": "1,2\n" }), mountPath: "data" }],
      allowedHostRoots: "any",
      syncPolicy: "cleanup",
    });
    for (const task of TASKS) {
      const section = new MarkdownSection({
        key: "task",
        title: "Task",
        template: `Please ${task}.`,
        tools: [read],
      });
      const template = new PromptTemplate({
        ns: "story",
        key: "2",
        sections: [section, workspace],
      });
      expect(await run.evaluate(new Prompt(template))).toBe(`${task} is done.`);
    }
    await workspace.cleanup();
    const synced = workspace.syncedDir ?? "";
    const results = readFiles(synced)["results.txt"];
    rmSync(synced, { recursive: true });
    expect(results).toBe(TASKS.map((task) => `${task}\n`).join(""));
    expect(run.session.get(compactionSlice).compactionCount).toBeGreaterThanOrEqual(TASKS.length);
    const sizes = run.relay.requests
      .filter(({ path }) => path === "/responses")
      .map(({ body: { input, tools = [] } }) => JSON.stringify({ input, tools }).length / 4);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(THRESHOLD);
    const created = run.relay.requests.filter(
      ({ method, path }) => method === "POST" && path === "/containers",
    );
    expect(created).toHaveLength(1);
    await run.expectNothingRetained();
  });

  it("exports the adapter, workspace, containers and compaction from weakincentives/openai", () => {
    const names = ["OpenAIAdapter", "OpenAIContainerWorkspaceSection", "ContainerManager"];
    const state = ["ContainerFilesystem", "CompactionManager", "compactionSlice"];
    const errors = ["CompactionError", "ContainerExpiredError"];
    expect(Object.keys(openai)).toEqual(expect.arrayContaining([...names, ...state, ...errors]));
  });
});
