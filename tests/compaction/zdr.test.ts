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
import { retentionProblems } from "../support/compaction/retention.ts";
import { folderWith, zdrStage } from "../support/compaction/zdr-stage.ts";
import { promptWith } from "../support/openai-run.ts";

const look = new Tool({
  name: "look",
  description: "Looks at a page.",
  params: z.strictObject({ at: z.string() }),
  handler: async ({ at }) => ToolResult.ok(null, `${at}: ${"word ".repeat(500)}`),
});

const done: readonly ModelAction[] = [{ say: "Done." }];

/** One action a request, then the end of it. */
function steps(...all: readonly (readonly ModelAction[])[]) {
  let step = 0;
  return () => all[step++] ?? done;
}

function looking(page: number): readonly ModelAction[] {
  return [
    { think: `About page ${page}.` },
    { call: { name: "look", args: { at: `page ${page}` } } },
  ];
}

describe("a provider that is to keep nothing", () => {
  it("is told so in plain turns, with function tools and with reasoning that is sent back sealed", async () => {
    const at = await zdrStage(steps(looking(1), looking(2)));
    expect(await at.evaluate(promptWith({ tools: [look] }))).toBe("Done.");
    const sealed = at.relay.requests.filter(({ text }) => text.includes('"type":"reasoning"'));
    expect(sealed).toHaveLength(2);
    await at.expectNothingKept();
  });

  it("is asked for structured output, and goes on over several evaluations", async () => {
    const at = await zdrStage(() => [{ think: "Hm." }, { say: { sum: 3 } }]);
    const output: Schema<{ sum: number }> = z.object({ sum: z.number() });
    const sections = [new MarkdownSection({ key: "task", title: "Task", template: "Add." })];
    const prompt = new Prompt(new PromptTemplate({ ns: "t", key: "sum", sections, output }));
    for (const _time of [1, 2, 3]) {
      const response = await at.adapter.evaluate(prompt, { session: at.session, continue: true });
      expect(response.output).toEqual({ sum: 3 });
    }
    expect(at.session.get(historySlice)).toHaveLength(9);
    await at.expectNothingKept();
  });

  it("has attachments in the request itself, from a path and from bytes", async () => {
    const at = await zdrStage(() => done);
    const bytes = new TextEncoder().encode("bytes");
    const path = join(folderWith({ "note.txt": "path" }), "note.txt");
    await at.evaluate(promptWith().attach({ path }, { bytes, filename: "b.txt" }));
    expect(at.relay.requests).toHaveLength(1);
    expect(at.relay.requests[0]?.text).toContain(btoa("path"));
    await at.expectNothingKept();
  });

  it("runs code in containers that are announced, and removed when the evaluation is over", async () => {
    const at = await zdrStage(steps([{ code: "print(6 * 7)" }], [{ code: "print(1)" }]));
    const prompt = promptWith({ hostedTools: [codeInterpreterTool()] });
    await at.evaluate(prompt);
    expect(at.events.filter(({ type }) => type === "DataHeld")).toMatchObject([
      { until: "the evaluation is over" },
    ]);
    await at.evaluate(prompt, { continue: true });
    expect(at.relay.requests.filter(({ method }) => method === "DELETE").length).toBeGreaterThan(0);
    await at.expectNothingKept();
  });

  it("has its containers removed though the evaluation failed", async () => {
    const at = await zdrStage(
      steps(
        [{ code: "print(1)" }, { call: { name: "look", args: { at: "x" } } }],
        [{ fail: { status: 400, message: "No." } }],
      ),
    );
    const prompt = promptWith({ hostedTools: [codeInterpreterTool()], tools: [look] });
    await expect(at.evaluate(prompt)).rejects.toThrow("status 400: No");
    expect(at.events.filter(({ type }) => type === "DataHeld")).toHaveLength(1);
    await at.expectNothingKept();
  });

  it("has what a tool mounts in a container that goes with the evaluation", async () => {
    const at = await zdrStage(steps([{ code: "print(1)" }]));
    const hostMounts = [{ hostPath: folderWith({ "a.txt": "one" }), mountPath: "p" }];
    const container = { type: "auto", hostMounts, allowedHostRoots: "any" } as const;
    await at.evaluate(promptWith({ hostedTools: [codeInterpreterTool({ container })] }));
    expect(at.relay.requests.map(({ path }) => path)).toContain("/containers");
    await at.expectNothingKept();
  });

  it("runs commands in containers that are announced and removed as well", async () => {
    const at = await zdrStage(steps([{ shell: ["echo 1"] }]));
    await at.evaluate(promptWith({ hostedTools: [shellTool()] }));
    expect(at.events.filter(({ type }) => type === "DataHeld")).toHaveLength(1);
    await at.expectNothingKept();
  });

  it("searches the web", async () => {
    const web = folderWith({ "owls.md": "# Owls\n\nOwls fly by night." });
    const at = await zdrStage(steps([{ search: { web: "owls" } }, { say: "By night." }]), { web });
    expect(await at.evaluate(promptWith({ hostedTools: [webSearchTool()] }))).toBe("By night.");
    await at.evaluate(promptWith({ hostedTools: [webSearchTool()] }), { continue: true });
    await at.expectNothingKept();
  });

  it("has a workspace's files in its container only, until the workspace is cleaned up", async () => {
    const code = { code: "print(open('p/a.txt').read())" };
    const at = await zdrStage(
      steps([code], done, [{ expireContainer: true }, { say: "Gone." }], [code], done),
      { adapter: { hostedTools: { codeInterpreter: true } } },
    );
    const section = new OpenAIContainerWorkspaceSection({
      session: at.session,
      allowedHostRoots: "any",
      mounts: [{ hostPath: folderWith({ "a.txt": "one" }), mountPath: "p" }],
    });
    const task = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
    const template = new PromptTemplate({ ns: "t", key: "w", sections: [task, section] });
    for (const _time of [1, 2, 3]) await at.evaluate(new Prompt(template), { continue: true });
    const read = at.events.filter((event) => event.type === "ToolInvoked");
    expect(read.map(({ renderedOutput }) => renderedOutput.includes("one"))).toContain(true);
    expect(at.events.filter(({ type }) => type === "ContainerReplaced")).toHaveLength(1);
    expect((await at.containers()).length).toBeGreaterThan(0);
    await section.cleanup();
    const held = at.events.filter((event) => event.type === "DataHeld");
    expect(new Set(held.map(({ until }) => until))).toEqual(
      new Set(["the workspace is cleaned up"]),
    );
    expect(new Set(held.map(({ containerId }) => containerId)).size).toBe(2);
    await at.expectNothingKept();
  });

  it.each(["endpoint", "server"] as const)(
    "compacts by the %s, over a session that is resumed from its store",
    async (strategy) => {
      const compaction = { strategy, thresholdTokens: 1_500 };
      const store = new JsonlSessionStore(folderWith({}));
      const session = new Session({ id: "one", store });
      let page = 0;
      const script = () => (++page % 5 === 0 ? done : looking(page));
      const at = await zdrStage(script, { compaction, session });
      const prompt = promptWith({ tools: [look] });
      await at.evaluate(prompt);
      await at.evaluate(prompt, { continue: true });
      await session.flush();
      const { compactionCount, window } = session.get(compactionSlice);
      expect(compactionCount).toBeGreaterThan(1);
      const slices = [compactionSlice, historySlice];
      const opened = await Session.open(store, "one", slices);
      expect(opened.get(compactionSlice).window).toEqual(window);
      expect(opened.get(historySlice)).toEqual(session.get(historySlice));
      await at.evaluate(prompt, { session: opened, continue: true });
      await at.evaluate(prompt, { session: opened });
      expect(opened.get(compactionSlice).compactionCount).toBeGreaterThan(compactionCount);
      await opened.flush();
      await at.expectNothingKept();
    },
  );
});

describe("the proof itself", () => {
  const request = { store: false, include: ["reasoning.encrypted_content"], input: [] };
  const item = (fields: object) => ({ ...request, input: [fields] });

  it.each<readonly [string, string, object]>([
    ["store: false", "POST /responses", { ...request, store: true }],
    ["store: false", "POST /responses", { include: request.include }],
    ["sealed reasoning", "POST /responses", { store: false }],
    ["it has background", "POST /responses", { ...request, background: false }],
    ["it has previous_response_id", "POST /responses/compact", { previous_response_id: "x" }],
    ["it has conversation", "POST /responses/input_tokens", { conversation: "x" }],
    ["it names resp_1", "POST /responses", item({ type: "message", of: "resp_1" })],
    ["it names file-1", "POST /responses", item({ content: [{ file_id: "file-1" }] })],
    ["it names vs_1", "POST /responses", { ...request, tools: [{ ids: ["vs_1"] }] }],
    ["an item_reference", "POST /responses", item({ type: "item_reference", id: "x" })],
    ["the id of a message", "POST /responses", item({ type: "message", id: "msg_1" })],
    ["not sealed", "POST /responses", item({ type: "reasoning", summary: [] })],
    ["in its own words", "POST /responses", item({ type: "reasoning", content: [{}] })],
    ["none of the routes", "POST /files", {}],
    ["none of the routes", "POST /vector_stores", {}],
    ["none of the routes", "GET /responses/resp_1", {}],
  ])("finds that %s in %s", (problem, route, body) => {
    const [method = "", path = ""] = route.split(" ");
    const recorded = { method, path, body: { ...body } };
    expect(retentionProblems([recorded]).join()).toContain(problem);
  });

  it("finds nothing in what is in order", () => {
    const call = { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1" };
    const ok = { method: "POST", path: "/responses", body: item(call) };
    expect(retentionProblems([ok])).toEqual([]);
  });
});
