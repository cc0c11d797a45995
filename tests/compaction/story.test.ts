import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Tool, ToolResult } from "weakincentives";
import type { ModelAction } from "weakincentives/local";
import * as openai from "weakincentives/openai";
import { compactionSlice, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import * as z from "zod";
import { folderWith, zdrStage } from "../support/compaction/zdr-stage.ts";
import { filesIn } from "../support/workspace/stage.ts";

const THRESHOLD = 3_000;
const TASKS = ["load", "clean", "model", "plot", "report"];

const read = new Tool({
  name: "read",
  description: "Reads a table.",
  params: z.strictObject({ table: z.string() }),
  handler: async ({ table }) => ToolResult.ok(null, `${table}: ${"row ".repeat(1_500)}`),
});

/** For each task: two tables, a line of the results, an answer. */
function analyst(): () => readonly ModelAction[] {
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
  it("has one session and one workspace for many evaluations, stays under its limit, and brings back what was made", async () => {
    const at = await zdrStage(analyst(), {
      compaction: { thresholdTokens: THRESHOLD },
      adapter: { hostedTools: { codeInterpreter: true } },
    });
    const workspace = new OpenAIContainerWorkspaceSection({
      session: at.session,
      mounts: [{ hostPath: folderWith({ "a.csv": "1,2\n" }), mountPath: "data" }],
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
      expect(await at.evaluate(new Prompt(template))).toBe(`${task} is done.`);
    }
    await workspace.cleanup();
    const synced = workspace.syncedDir ?? "";
    const results = filesIn(synced)["results.txt"];
    rmSync(synced, { recursive: true });
    expect(results).toBe(TASKS.map((task) => `${task}\n`).join(""));
    expect(at.session.get(compactionSlice).compactionCount).toBeGreaterThanOrEqual(TASKS.length);
    const sizes = at.relay.requests
      .filter(({ path }) => path === "/responses")
      .map(({ body: { input, tools = [] } }) => JSON.stringify({ input, tools }).length / 4);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(THRESHOLD);
    const made = at.relay.requests.filter(
      ({ method, path }) => method === "POST" && path === "/containers",
    );
    expect(made).toHaveLength(1);
    await at.expectNothingKept();
  });

  it("has all that it takes at one door: adapter, workspace, containers and compaction", () => {
    const names = ["OpenAIAdapter", "OpenAIContainerWorkspaceSection", "ContainerManager"];
    const kept = ["ContainerFilesystem", "CompactionManager", "compactionSlice"];
    const failing = ["CompactionError", "ContainerExpiredError"];
    expect(Object.keys(openai)).toEqual(expect.arrayContaining([...names, ...kept, ...failing]));
  });
});
