import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type Schema,
  Session,
  shellTool,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import type { ModelAction } from "weakincentives/local";
import {
  compactionSlice,
  historySlice,
  OpenAIContainerWorkspaceSection,
} from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import * as z from "zod";
import { findRetentionProblems } from "../support/compaction/retention-problems.ts";
import { createFolder, startZeroRetentionRun } from "../support/compaction/zero-retention-run.ts";
import { createTaskPrompt } from "../support/openai-run.ts";

const look = new Tool({
  name: "look",
  description: "Looks at a page.",
  params: z.strictObject({ at: z.string() }),
  handler: async ({ at }) => ToolResult.ok(null, `${at}: ${"word ".repeat(500)}`),
});

const done: readonly ModelAction[] = [{ say: "Done." }];

/** Creates a script with one action per request, followed by the last answer. */
function createScript(...all: readonly (readonly ModelAction[])[]) {
  let step = 0;
  return () => all[step++] ?? done;
}

function createLookTurn(page: number): readonly ModelAction[] {
  return [
    { think: `About page ${page}.` },
    { call: { name: "look", args: { at: `page ${page}` } } },
  ];
}

describe("zero data retention", () => {
  it("retains nothing with function tools and encrypted reasoning", async () => {
    const run = await startZeroRetentionRun(createScript(createLookTurn(1), createLookTurn(2)));
    expect(await run.evaluate(createTaskPrompt({ tools: [look] }))).toBe("Done.");
    const withReasoning = run.relay.requests.filter(({ text }) =>
      text.includes('"type":"reasoning"'),
    );
    expect(withReasoning).toHaveLength(2);
    await run.expectNothingRetained();
  });

  it("retains nothing with structured output over several evaluations", async () => {
    const run = await startZeroRetentionRun(() => [{ think: "Hm." }, { say: { sum: 3 } }]);
    const output: Schema<{ sum: number }> = z.object({ sum: z.number() });
    const sections = [new MarkdownSection({ key: "task", title: "Task", template: "Add." })];
    const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "sum", sections, output }));
    for (const _time of [1, 2, 3]) {
      const response = await run.adapter.evaluate(prompt, { session: run.session, continue: true });
      expect(response.output).toEqual({ sum: 3 });
    }
    expect(run.session.get(historySlice)).toHaveLength(9);
    await run.expectNothingRetained();
  });

  it("sends attachments inline, from a path and from bytes", async () => {
    const run = await startZeroRetentionRun(() => done);
    const bytes = new TextEncoder().encode("bytes");
    const path = join(createFolder({ "note.txt": "path" }), "note.txt");
    await run.evaluate(createTaskPrompt().attach({ path }, { bytes, filename: "b.txt" }));
    expect(run.relay.requests).toHaveLength(1);
    expect(run.relay.requests[0]?.text).toContain(btoa("path"));
    await run.expectNothingRetained();
  });

  it("publishes the containers that code runs in and removes them when the evaluation ends", async () => {
    const run = await startZeroRetentionRun(
      createScript([{ code: "print(6 * 7)" }], [{ code: "print(1)" }]),
    );
    const prompt = createTaskPrompt({ hostedTools: [codeInterpreterTool()] });
    await run.evaluate(prompt);
    expect(run.events.filter(({ type }) => type === "DataHeld")).toMatchObject([
      { until: "the evaluation ends" },
    ]);
    await run.evaluate(prompt, { continue: true });
    expect(run.relay.requests.filter(({ method }) => method === "DELETE").length).toBeGreaterThan(
      0,
    );
    await run.expectNothingRetained();
  });

  it("removes containers when the evaluation fails", async () => {
    const run = await startZeroRetentionRun(
      createScript(
        [{ code: "print(1)" }, { call: { name: "look", args: { at: "x" } } }],
        [{ fail: { status: 400, message: "No." } }],
      ),
    );
    const prompt = createTaskPrompt({ hostedTools: [codeInterpreterTool()], tools: [look] });
    await expect(run.evaluate(prompt)).rejects.toThrow("status 400: No");
    expect(run.events.filter(({ type }) => type === "DataHeld")).toHaveLength(1);
    await run.expectNothingRetained();
  });

  it("removes the container of a tool's mounts with the evaluation", async () => {
    const run = await startZeroRetentionRun(createScript([{ code: "print(1)" }]));
    const hostMounts = [{ hostPath: createFolder({ "a.txt": "one" }), mountPath: "p" }];
    const container = { type: "auto", hostMounts, allowedHostRoots: "any" } as const;
    await run.evaluate(createTaskPrompt({ hostedTools: [codeInterpreterTool({ container })] }));
    expect(run.relay.requests.map(({ path }) => path)).toContain("/containers");
    await run.expectNothingRetained();
  });

  it("publishes and removes the containers that commands run in", async () => {
    const run = await startZeroRetentionRun(createScript([{ shell: ["echo 1"] }]));
    await run.evaluate(createTaskPrompt({ hostedTools: [shellTool()] }));
    expect(run.events.filter(({ type }) => type === "DataHeld")).toHaveLength(1);
    await run.expectNothingRetained();
  });

  it("retains nothing with web search", async () => {
    const web = createFolder({ "owls.md": "# Owls\n\nOwls fly by night." });
    const run = await startZeroRetentionRun(
      createScript([{ search: { web: "owls" } }, { say: "By night." }]),
      { web },
    );
    expect(await run.evaluate(createTaskPrompt({ hostedTools: [webSearchTool()] }))).toBe(
      "By night.",
    );
    await run.evaluate(createTaskPrompt({ hostedTools: [webSearchTool()] }), { continue: true });
    await run.expectNothingRetained();
  });

  it("keeps a workspace's files only in its container, until the workspace is cleaned up", async () => {
    const code = { code: "print(open('p/a.txt').read())" };
    const run = await startZeroRetentionRun(
      createScript([code], done, [{ expireContainer: true }, { say: "Gone." }], [code], done),
      { adapter: { hostedTools: { codeInterpreter: true } } },
    );
    const section = new OpenAIContainerWorkspaceSection({
      session: run.session,
      allowedHostRoots: "any",
      mounts: [{ hostPath: createFolder({ "a.txt": "one" }), mountPath: "p" }],
    });
    const task = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
    const template = new PromptTemplate({ ns: "t", key: "w", sections: [task, section] });
    for (const _time of [1, 2, 3]) await run.evaluate(new Prompt(template), { continue: true });
    const read = run.events.filter((event) => event.type === "ToolInvoked");
    expect(read.map(({ renderedOutput }) => renderedOutput.includes("one"))).toContain(true);
    expect(run.events.filter(({ type }) => type === "ContainerReplaced")).toHaveLength(1);
    expect((await run.listContainers()).length).toBeGreaterThan(0);
    await section.cleanup();
    const held = run.events.filter((event) => event.type === "DataHeld");
    expect(new Set(held.map(({ until }) => until))).toEqual(
      new Set(["the workspace is cleaned up"]),
    );
    expect(new Set(held.map(({ containerId }) => containerId)).size).toBe(2);
    await run.expectNothingRetained();
  });

  it.each(["endpoint", "server"] as const)(
    "retains nothing with compaction by the %s strategy and a session that is resumed from its store",
    async (strategy) => {
      const compaction = { strategy, thresholdTokens: 1_500 };
      const store = new JsonlSessionStore(createFolder({}));
      const session = new Session({ id: "one", store });
      let page = 0;
      const script = () => (++page % 5 === 0 ? done : createLookTurn(page));
      const run = await startZeroRetentionRun(script, { compaction, session });
      const prompt = createTaskPrompt({ tools: [look] });
      await run.evaluate(prompt);
      await run.evaluate(prompt, { continue: true });
      await session.flush();
      const { compactionCount, window } = session.get(compactionSlice);
      expect(compactionCount).toBeGreaterThan(1);
      const slices = [compactionSlice, historySlice];
      const opened = await Session.open(store, "one", slices);
      expect(opened.get(compactionSlice).window).toEqual(window);
      expect(opened.get(historySlice)).toEqual(session.get(historySlice));
      await run.evaluate(prompt, { session: opened, continue: true });
      await run.evaluate(prompt, { session: opened });
      expect(opened.get(compactionSlice).compactionCount).toBeGreaterThan(compactionCount);
      await opened.flush();
      await run.expectNothingRetained();
    },
  );
});

describe("findRetentionProblems()", () => {
  const request = { store: false, include: ["reasoning.encrypted_content"], input: [] };
  const item = (fields: object) => ({ ...request, input: [fields] });

  it.each<readonly [string, string, object]>([
    ["store: false", "POST /responses", { ...request, store: true }],
    ["store: false", "POST /responses", { include: request.include }],
    ["encrypted reasoning", "POST /responses", { store: false }],
    ["it has background", "POST /responses", { ...request, background: false }],
    ["it has previous_response_id", "POST /responses/compact", { previous_response_id: "x" }],
    ["it has conversation", "POST /responses/input_tokens", { conversation: "x" }],
    ["it names resp_1", "POST /responses", item({ type: "message", of: "resp_1" })],
    ["it names file-1", "POST /responses", item({ content: [{ file_id: "file-1" }] })],
    ["it names vs_1", "POST /responses", { ...request, tools: [{ ids: ["vs_1"] }] }],
    ["an item_reference", "POST /responses", item({ type: "item_reference", id: "x" })],
    ["the id of a message", "POST /responses", item({ type: "message", id: "msg_1" })],
    ["not encrypted", "POST /responses", item({ type: "reasoning", summary: [] })],
    ["in plain text", "POST /responses", item({ type: "reasoning", content: [{}] })],
    ["not an allowed route", "POST /files", {}],
    ["not an allowed route", "POST /vector_stores", {}],
    ["not an allowed route", "GET /responses/resp_1", {}],
  ])('reports "%s" in %s', (problem, route, body) => {
    const [method = "", path = ""] = route.split(" ");
    const recorded = { method, path, body: { ...body } };
    expect(findRetentionProblems([recorded]).join()).toContain(problem);
  });

  it("reports nothing for a valid request", () => {
    const call = { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1" };
    const ok = { method: "POST", path: "/responses", body: item(call) };
    expect(findRetentionProblems([ok])).toEqual([]);
  });
});
