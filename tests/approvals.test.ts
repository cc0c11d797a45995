import { describe, expect, onTestFinished, test } from "vitest";
import {
  type ApprovalDecision,
  type ApprovalRequest,
  applyPatchTool,
  EvaluationParkedError,
  type HostedTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  type ShellExecutor,
  shellTool,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { MemorySessionStore } from "./support/memory-session-store.ts";

const patches = [{ type: "create_file", path: "a.txt", diff: "+Hi.\n" }] as const;
const script: readonly (readonly ModelAction[])[] = [
  [{ shell: ["deploy --now"] }, { patch: [...patches] }],
  [{ say: "Done." }],
];

/** An agent whose commands and patches need approval, on the local provider. */
async function createAgent() {
  const commands: string[] = [];
  const executor: ShellExecutor = {
    run: async (given) => {
      commands.push(...given);
      return given.map(() => ({
        stdout: "up",
        stderr: "",
        outcome: { type: "exit", exitCode: 0 },
      }));
    },
  };
  const filesystem = new InMemoryFilesystem();
  const hostedTools: readonly HostedTool[] = [
    shellTool({ environment: { type: "local" } }, { executor, needsApproval: true }),
    applyPatchTool({}, { filesystem, needsApproval: ({ operation }) => operation !== "update" }),
  ];
  const section = new MarkdownSection({ key: "task", title: "Task", template: "Go.", hostedTools });
  const prompt = new Prompt(new PromptTemplate({ ns: "tests", key: "ops", sections: [section] }));
  const provider = new LocalProvider({ model: scriptedModel(script.map((turn) => [...turn])) });
  onTestFinished(() => provider.close());
  const seen: string[] = [];
  const clientConfig = {
    apiKey: "local",
    fetch: async (...[url, init]: Parameters<typeof fetch>) => {
      seen.push(await new Response(init?.body).text());
      return await provider.fetch(url, init);
    },
  };
  const adapter = new OpenAIAdapter({ model: "local", clientConfig });
  return { prompt, adapter, commands, filesystem, seen };
}

describe("on OpenAI's API, commands and patches", () => {
  test("run if they are approved, and the request names their params", async () => {
    const { prompt, adapter, commands, filesystem } = await createAgent();
    const asked: ApprovalRequest[] = [];
    const approve = async (request: ApprovalRequest): Promise<ApprovalDecision> => {
      asked.push(request);
      return "approve";
    };
    const { text } = await adapter.evaluate(prompt, { approve });
    expect(text).toBe("Done.");
    expect(asked.map(({ name, params }) => ({ name, params }))).toEqual([
      { name: "shell", params: { commands: ["deploy --now"] } },
      { name: "apply_patch", params: { operation: "create", path: "a.txt", diff: "+Hi.\n" } },
    ]);
    expect(commands).toEqual(["deploy --now"]);
    expect(await filesystem.readText("a.txt")).toBe("Hi.\n");
  });

  test("do not run if they are denied, and the model reads it", async () => {
    const { prompt, adapter, commands, filesystem, seen } = await createAgent();
    const { hostedCalls } = await adapter.evaluate(prompt, { session: new Session() });
    expect([commands, await filesystem.exists("a.txt")]).toEqual([[], false]);
    expect(hostedCalls.map(({ success }) => success)).toEqual([false, false]);
    expect(seen.at(-1)?.match(/The call was not made: it needs approval/g)).toHaveLength(2);
  });

  test("wait for the next process if they are parked, and then run once each", async () => {
    const { prompt, adapter, commands, filesystem, seen } = await createAgent();
    const store = new MemorySessionStore();
    const session = await Session.openOrCreate(store, "run");
    const error = await adapter
      .evaluate(prompt, { session, approve: async () => "park" })
      .catch((reason: unknown) => reason);
    if (!(error instanceof EvaluationParkedError)) throw error;
    expect(error.approvals.map(({ name }) => name)).toEqual(["shell", "apply_patch"]);
    expect([commands, seen.length]).toEqual([[], 1]);
    const [shell, patch] = error.approvals.map(({ key }) => key);
    const approvals = { [shell ?? ""]: "approve", [patch ?? ""]: "deny" } as const;
    const next = await Session.openOrCreate(store, "run");
    const { text } = await adapter.evaluate(prompt, { session: next, resume: true, approvals });
    expect([text, commands, seen.length]).toEqual(["Done.", ["deploy --now"], 2]);
    expect(await filesystem.exists("a.txt")).toBe(false);
    expect(seen.at(-1)).toContain("The call was not made: it was denied.");
  });

  test("of a container cannot be approved, because the provider runs them", async () => {
    const { adapter } = await createAgent();
    const tool = shellTool({}, { needsApproval: true });
    const section = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Go.",
      hostedTools: [tool],
    });
    const prompt = new Prompt(new PromptTemplate({ ns: "tests", key: "c", sections: [section] }));
    await expect(adapter.evaluate(prompt)).rejects.toThrow(
      /needsApproval must be omitted in a container environment, because the provider runs/,
    );
  });
});
