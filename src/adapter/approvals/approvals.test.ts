import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { copyStore, reopenSession } from "../../../tests/support/resume/reopen-session.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { type ScriptStep, scriptedClient } from "../../testing/scripted-client.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { Tool, type ToolOptions } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import type { NestedOptions } from "../nested-adapter.ts";
import type { EvaluateOptions } from "../provider-adapter.ts";
import { onBarrier } from "../resume/barrier.ts";
import type { ApprovalRequest } from "./approval-request.ts";
import { EvaluationParkedError } from "./evaluation-parked-error.ts";

/** Runs of the tools, by name. */
function createTools(deploy: Partial<ToolOptions<never, unknown>> = {}) {
  const runs: string[] = [];
  const create = (name: string, options: Partial<ToolOptions<never, unknown>>) =>
    new Tool<never, unknown>({
      name,
      description: name,
      params: null,
      handler: () => {
        runs.push(name);
        return ToolResult.ok(null, `${name} done`);
      },
      ...options,
    });
  const tools = [create("deploy", { needsApproval: true, ...deploy }), create("look", {})];
  return { runs, prompt: createPrompt(tools) };
}

function createPrompt(tools: readonly Tool[], hostedTools: readonly HostedTool[] = []): Prompt {
  const section = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Go.",
    tools,
    hostedTools,
  });
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [section] }));
}

const both = { toolCalls: [{ name: "deploy" }, { name: "look" }] };
const done = { text: "Done." };

/** Evaluates a script, and returns what the model read about its calls. */
async function run(prompt: Prompt, options: EvaluateOptions, ...script: ScriptStep[]) {
  const client = scriptedClient(...script);
  const { text } = await client.evaluate(prompt, options);
  return { text, read: client.asked.at(-1)?.answers.map((answer) => answer.text) };
}

const NO_ONE = /^The call was not made: it needs approval, and there is no one to give it\. Do not/;

describe("a call that needs approval", () => {
  test("is denied without approve, and the other calls run", async () => {
    const { runs, prompt } = createTools();
    const session = new Session();
    const { read } = await run(prompt, { session }, both, done);
    expect(read).toEqual([expect.stringMatching(NO_ONE), "look done"]);
    expect(runs).toEqual(["look"]);
  });

  test("runs once approve has approved it, which gets the request", async () => {
    const { runs, prompt } = createTools();
    const asked: ApprovalRequest[] = [];
    const session = new Session({ id: "s" });
    const approve = async (request: ApprovalRequest) => {
      expect(runs).toEqual([]);
      asked.push(request);
      return "approve" as const;
    };
    const { read } = await run(prompt, { session, approve }, both, done);
    expect(read).toEqual(["deploy done", "look done"]);
    expect(asked).toMatchObject([
      { name: "deploy", callId: "call_1_1", params: null, promptName: "test:run", sessionId: "s" },
    ]);
    expect(asked[0]?.key).toMatch(/^s:.+:call_1_1$/);
  });

  test.each([
    ["deny", /^The call was not made: it was denied\. Do not repeat it/],
    ["yes", /the answer was "yes", not "approve", "deny" or "park"/],
    [undefined, /the answer was undefined/],
    [new Error("Slack is down"), /asking for it failed: Slack is down/],
  ])("is denied if approve answers %s, and the model reads why", async (answer, expected) => {
    const { runs, prompt } = createTools();
    const approve = async () => {
      if (answer instanceof Error) throw answer;
      return answer as "deny";
    };
    const { read } = await run(prompt, { approve }, both, done);
    expect(read).toEqual([expect.stringMatching(expected), "look done"]);
    expect(runs).toEqual(["look"]);
  });

  test("is decided by its params, and only false means that none is needed", async () => {
    for (const [verdict, expected] of [
      [false, ["deploy", "look"]],
      [true, ["look"]],
      [undefined, ["look"]],
    ] as const) {
      const { runs, prompt } = createTools({ needsApproval: () => verdict as boolean });
      await run(prompt, {}, both, done);
      expect(runs).toEqual(expected);
    }
  });

  test("is denied if needsApproval fails", async () => {
    const needsApproval = () => {
      throw new Error("No rules.");
    };
    const { runs, prompt } = createTools({ needsApproval });
    const approve = async () => "approve" as const;
    const { read } = await run(prompt, { approve }, both, done);
    expect(read?.[0]).toMatch(/finding out whether it needs approval failed: No rules\./);
    expect(runs).toEqual(["look"]);
  });

  test("is denied if a policy fails, which the model reads", async () => {
    const check = () => {
      throw new Error("No calendar.");
    };
    const { runs, prompt } = createTools({ policies: [{ name: "freeze", check }] });
    const approve = async () => "approve" as const;
    const { read } = await run(prompt, { approve }, both, done);
    expect(read?.[0]).toBe("The call was not made: checking its policies failed: No calendar.");
    expect(runs).toEqual(["look"]);
  });

  test("is not shown to a person if a policy denies it", async () => {
    let asked = 0;
    const policy = { name: "freeze", check: () => "Deployments are frozen." };
    const { runs, prompt } = createTools({ policies: [policy] });
    const approve = async () => {
      asked += 1;
      return "approve" as const;
    };
    const { read } = await run(prompt, { approve }, both, done);
    expect(read?.[0]).toBe('Deployments are frozen. (policy "freeze")');
    expect([asked, runs]).toEqual([0, ["look"]]);
  });

  test("ends with the evaluation if that is canceled while approve waits", async () => {
    const { runs, prompt } = createTools();
    const canceling = new AbortController();
    const approve = () => {
      canceling.abort(new Error("Enough."));
      return new Promise<never>(() => {});
    };
    const evaluating = run(prompt, { approve, signal: canceling.signal }, both, done);
    await expect(evaluating).rejects.toThrow("Enough.");
    expect(runs).toEqual([]);
  });
});

/** Parks the call in one process. Returns the store and the requests. */
async function park(prompt: Prompt, ...script: ScriptStep[]) {
  const store = new MemorySessionStore();
  const session = await reopenSession(store);
  const approve = async () => "park" as const;
  const error = await scriptedClient(...script)
    .evaluate(prompt, { session, approve })
    .catch((reason: unknown) => reason);
  if (!(error instanceof EvaluationParkedError)) throw error;
  return { store, error, session };
}

describe("a parked call", () => {
  test("stops the evaluation after the other calls of the turn, and its error explains how to continue", async () => {
    const { runs, prompt } = createTools();
    const { error, store } = await park(prompt, both);
    expect(runs).toEqual(["look"]);
    expect(store.claims.size).toBe(0); // any process can continue
    expect(error).toMatchObject({ phase: "tool", partial: { turns: 1 }, promptName: "test:run" });
    expect(error.approvals).toMatchObject([{ name: "deploy", key: "s:1:call_1_1" }]);
    expect(error.message).toBe(
      'The evaluation waits for the approval of a call to "deploy". Evaluate again with resume: true, and approvals with a decision for each key.',
    );
  });

  test.each([
    ["approve", "deploy done", ["look", "deploy"]],
    ["deny", expect.stringMatching(/^The call was not made: it was denied/), ["look"]],
  ] as const)("continues in another process with %s", async (decision, text, expected) => {
    const { runs, prompt } = createTools();
    const { store, error } = await park(prompt, both);
    const approvals = Object.fromEntries(error.approvals.map(({ key }) => [key, decision]));
    const session = await reopenSession(store);
    const { read } = await run(prompt, { session, resume: true, approvals }, done);
    expect(read).toEqual([text, "look done"]);
    expect(runs).toEqual(expected);
  });

  test("is parked again if it is still not decided, and denied without approve", async () => {
    const { runs, prompt } = createTools();
    const { store, error } = await park(prompt, both);
    const approve = async () => "park" as const;
    const options = { session: await reopenSession(store), resume: true, approve };
    await expect(run(prompt, options, done)).rejects.toMatchObject({ approvals: error.approvals });
    const session = await reopenSession(store);
    const { read } = await run(prompt, { session, resume: true }, done);
    expect(read).toEqual([expect.stringMatching(NO_ONE), "look done"]);
    expect(runs).toEqual(["look"]);
  });

  test("continues in another process if its process is killed at the barrier", async () => {
    const { runs, prompt } = createTools();
    const store = new MemorySessionStore();
    let killed = store;
    const options: NestedOptions = {
      session: await reopenSession(store),
      approve: async () => "park",
      [onBarrier]: async (barrier) => {
        if (barrier === "parked") killed = copyStore(store);
      },
    };
    const parking = scriptedClient(both).evaluate(prompt, options);
    const error = await parking.catch((reason: unknown) => reason);
    if (!(error instanceof EvaluationParkedError)) throw error;
    const approvals = Object.fromEntries(
      error.approvals.map(({ key }) => [key, "approve" as const]),
    );
    const session = await reopenSession(killed);
    const { read } = await run(prompt, { session, resume: true, approvals }, done);
    expect(killed).not.toBe(store);
    expect(read).toEqual(["deploy done", "look done"]);
    expect(runs).toEqual(["look", "deploy"]);
  });

  test("is listed with the others of its turn", async () => {
    const { prompt } = createTools({ parallel: true });
    const { error } = await park(prompt, { toolCalls: [{ name: "deploy" }, { name: "deploy" }] });
    expect(error.approvals.map(({ key }) => key)).toEqual(["s:1:call_1_1", "s:1:call_1_2"]);
    expect(error.message).toContain('2 calls to "deploy"');
  });

  test("needs a stored session", async () => {
    const { prompt } = createTools();
    const evaluating = run(prompt, { approve: async () => "park" as const }, both, done);
    await expect(evaluating).rejects.toThrow(
      /must return "approve" or "deny".*session with a store/,
    );
  });
});

describe("a delegated call that needs approval", () => {
  const patch = new HostedTool({ kind: "patch", name: "patch", description: "P.", config: {} });
  const createStep = (runs: string[]): ScriptStep => ({
    delegatedCalls: [
      {
        name: "patch",
        kind: "patch",
        callId: "p1",
        params: { file: "a" },
        raw: { type: "patch" },
        needsApproval: true,
        run: async () => {
          runs.push("patch");
          return { output: { lines: 2 }, success: true, message: "Patched." };
        },
      },
    ],
  });

  test.each([
    ["approve", ["patch"], { success: true, message: "Patched." }],
    ["deny", [], { success: false, output: null, message: /it was denied/ }],
  ] as const)("is decided by approve: %s", async (decision, expected, result) => {
    const runs: string[] = [];
    const client = scriptedClient(createStep(runs), done);
    const asked: unknown[] = [];
    const approve = async ({ name, params }: ApprovalRequest) => {
      asked.push({ name, params });
      return decision;
    };
    await client.evaluate(createPrompt([], [patch]), { approve });
    expect([asked, runs]).toEqual([[{ name: "patch", params: { file: "a" } }], expected]);
    const message =
      typeof result.message === "string" ? result.message : expect.stringMatching(result.message);
    expect(client.asked[1]?.delegatedResults).toMatchObject([{ ...result, message }]);
  });

  test("can be parked, and is not started", async () => {
    const runs: string[] = [];
    const { error, store } = await park(createPrompt([], [patch]), createStep(runs));
    expect(error.approvals).toMatchObject([{ name: "patch", callId: "p1", params: { file: "a" } }]);
    expect(runs).toEqual([]);
    expect((store.lines.get("s") ?? []).join()).not.toContain("ToolStarted");
  });
});

test("evaluate refuses approve and approvals that are not decisions", async () => {
  const { prompt } = createTools();
  for (const [options, expected] of [
    [{ approve: "yes" }, /evaluate\(approve\) must be a function, got "yes"/],
    [{ approvals: { a: "park" } }, /evaluate\(approvals\) must be an object whose values/],
    [{ approvals: ["approve"] }, /evaluate\(approvals\) must be an object/],
  ] as const) {
    await expect(run(prompt, options as never, done)).rejects.toThrow(expected);
  }
});
