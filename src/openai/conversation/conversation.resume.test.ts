import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createTaskPrompt, lookTool } from "../../../tests/support/openai-run.ts";
import {
  countUntil,
  expectSameAfterKills,
  KilledRuns,
} from "../../../tests/support/resume/killed-runs.ts";
import { createLookPrompt, createLookTurn } from "../../../tests/support/resume/look-turn.ts";
import { createClosedSection, openSection } from "../../../tests/support/roles-run.ts";
import {
  applyPatchCall,
  codeInterpreterCall,
  functionCall,
  imageGenerationCall,
  mcpApprovalRequest,
  mcpCall,
  message,
  reasoning,
  shellCall,
  shellCallOutput,
  urlCitation,
  type WireAnswer,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { imageGenerationTool } from "../../tools/hosted/image-generation.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";

const twoTurns: readonly WireAnswer[] = [
  createLookTurn("call_1"),
  [reasoning("rs_2"), functionCall("look", {}, "call_2"), functionCall("look", {}, "call_3")],
  [message("Done.")],
];

describe("an evaluation that was killed after any stored record", () => {
  it.each([
    ["stored items", {}],
    ["sealed items", { modelConfig: { store: false } }],
    ["zero data retention", { compaction: { zdrMode: true } }],
    ["buffered responses", { delivery: "buffered" as const }],
  ])("sends the same requests with %s", async (_what, adapter) => {
    const whole = await expectSameAfterKills({
      script: twoTurns,
      createPrompt: createLookPrompt,
      adapter,
    });
    expect(whole.turns).toHaveLength(3);
  });

  it("keeps the outputs of hosted calls of all turns", async () => {
    const web = webSearchTool();
    const code = codeInterpreterTool({ container: { type: "auto" } });
    const image = imageGenerationTool();
    const shell = shellTool({ environment: { type: "container" } });
    const cited = message("See owls.", [urlCitation("https://owls.test", "Owls", [4, 8])]);
    const long = "iVBORw0K".repeat(500); // the event has only its beginning
    const ran = { stdout: "a.txt", stderr: "", outcome: { type: "exit" as const, exit_code: 0 } };
    const whole = await expectSameAfterKills({
      script: [
        [webSearchCall("owls", ["https://owls.test"]), cited, functionCall("look", {}, "call_1")],
        [
          codeInterpreterCall("print(1)", ["1"]),
          reasoning("rs_1"),
          shellCall(["ls"], "cntr_1"),
          shellCallOutput([ran]),
          functionCall("look", {}, "call_2"),
        ],
        [imageGenerationCall(long), message("Done.")],
      ],
      createPrompt: () =>
        createTaskPrompt({ tools: [lookTool], hostedTools: [web, code, image, shell] }),
    });
    const { hostedOutputs } = whole.response;
    expect(hostedOutputs.get(web)?.citations).toHaveLength(1);
    expect(hostedOutputs.get(shell)?.calls).toHaveLength(1);
    expect(hostedOutputs.get(image)?.images[0]?.base64).toBe(long);
  });

  it("answers calls that the host runs", async () => {
    const executor = {
      run: async (commands: readonly string[]) =>
        commands.map((stdout) => ({
          ...{ stdout, stderr: "" },
          outcome: { type: "exit" as const, exitCode: 0 },
        })),
    };
    const shell = shellTool({ environment: { type: "local" } }, { executor });
    const mcp = mcpTool(
      { serverLabel: "server", serverUrl: "https://mcp.test", requireApproval: "always" },
      { approve: () => true },
    );
    const operation = (path: string) => ({ type: "create_file", path, diff: "+one\n" });
    const whole = await expectSameAfterKills({
      script: [
        [reasoning("rs_1"), applyPatchCall(operation("a.txt")), applyPatchCall(operation("b.txt"))],
        [shellCall(["ls"]), functionCall("look", {}, "call_2")],
        [reasoning("rs_3"), mcpApprovalRequest("roll", {})],
        [mcpCall("roll", {}, "6"), message("Done.")],
      ],
      createPrompt: () => {
        const patch = applyPatchTool({}, { filesystem: new InMemoryFilesystem() });
        return createTaskPrompt({ tools: [lookTool], hostedTools: [patch, shell, mcp] });
      },
    });
    expect(whole.response.hostedOutputs.get("apply_patch")).toMatchObject({ calls: [{}, {}] });
    expect(whole.response.hostedOutputs.get(shell)?.calls).toHaveLength(1);
  });

  it("sends user sections, input and attachments once", async () => {
    const task = new MarkdownSection({
      ...{ key: "task", title: "Task", template: "Sort owls.", role: "user", tools: [lookTool] },
    });
    const rules = new MarkdownSection({ key: "rules", title: "Rules", template: "Be brief." });
    const file = { bytes: new Uint8Array([111, 119, 108]), filename: "owls.txt" };
    const whole = await expectSameAfterKills({
      script: twoTurns,
      createPrompt: () =>
        new Prompt(new PromptTemplate({ ns: "test", key: "sort", sections: [rules, task] })).attach(
          file,
        ),
      evaluate: { input: [{ type: "text", text: "By size." }, file] },
    });
    expect(whole.turns[2]?.match(/By size/g)).toHaveLength(1);
  });

  it.each(["system", "user"] as const)("replaces %s text that was opened", async (role) => {
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Go.",
      tools: [lookTool],
    });
    const sections = [task, createClosedSection("more", role)];
    const whole = await expectSameAfterKills({
      script: [[openSection("more", "call_1")], createLookTurn("call_2"), [message("Done.")]],
      createPrompt: () => new Prompt(new PromptTemplate({ ns: "test", key: "sort", sections })),
    });
    expect(whole.turns[1]).toContain("By size, then by color.");
  });

  it.each([false, true])("starts after an earlier evaluation with continue: %j", async (again) => {
    const whole = await expectSameAfterKills({
      script: [createLookTurn("call_0"), [message("First.")], ...twoTurns],
      createPrompt: createLookPrompt,
      before: async (adapter, session) => {
        await adapter.evaluate(createLookPrompt(), { session });
      },
      evaluate: { continue: again },
    });
    expect(whole.turns[0]?.includes("First.")).toBe(again);
  });

  it("returns structured output", async () => {
    const output = z.object({ total: z.number() });
    const section = new MarkdownSection({
      ...{ key: "task", title: "Task", template: "Go.", tools: [lookTool] },
    });
    const template = new PromptTemplate({ ns: "test", key: "run", sections: [section], output });
    const whole = await expectSameAfterKills({
      script: [createLookTurn("call_1"), [message('{"total":5}')]],
      createPrompt: () => new Prompt(template),
    });
    expect(whole.response.output).toEqual({ total: 5 });
  });

  it("streams the text of the turns that were not stored", async () => {
    const script = [
      [message("One. "), functionCall("look", {}, "call_1")],
      [message("Two. "), functionCall("look", {}, "call_2")],
      [message("Done.")],
    ];
    await using runs = await KilledRuns.start({
      script,
      createPrompt: createLookPrompt,
      streams: true,
    });
    const { whole } = await runs.runWhole();
    expect(whole.streamed).toBe("One. Two. Done.");
    const expected = ["Two. Done.", "Done.", "Done."]; // at the end, the stored answer
    for (const [index, text] of expected.entries()) {
      const count = countUntil(whole.records, "TurnCompleted", index + 1);
      const resumed = await runs.expectSame(whole.records, count);
      expect([resumed.streamed, resumed.response.text]).toEqual([text, "Done."]);
    }
  });

  it("can be killed again at any later record", async () => {
    await using runs = await KilledRuns.start({ script: twoTurns, createPrompt: createLookPrompt });
    const { whole, first } = await runs.runWhole();
    for (let count = first; count <= whole.records.length; count += 2) {
      const second = await runs.resumeAfter(whole.records, count);
      for (let later = count; later <= second.records.length; later++) {
        await runs.expectSame(second.records, later);
      }
    }
  });
});
