import { describe, expect, test } from "vitest";
import {
  type ApprovalRequest,
  applyPatchTool,
  EvaluationParkedError,
  Session,
  shellTool,
  Tool,
  ToolResult,
} from "weakincentives";
import {
  createFixture,
  createPrompt,
  type ModelEndpoint,
  startScriptedServer,
} from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { MemorySessionStore } from "../support/memory-session-store.ts";

/** Creates a call with a new id. */
const createBash = () => ({ content: [toolUse("Bash", { command: "echo deployed > out.txt" })] });
const done = { content: [textBlock("Done.")] };
const park = async () => "park" as const;

/** Opens the session as another process would. */
async function reopen(endpoint: ModelEndpoint, store: MemorySessionStore) {
  store.claims.clear();
  return createFixture(endpoint, { session: await Session.openOrCreate(store, "run") });
}

function createDeploy() {
  const runs: string[] = [];
  const deploy = new Tool({
    name: "deploy",
    description: "Deploys.",
    params: null,
    needsApproval: true,
    handler: () => {
      runs.push("deploy");
      return ToolResult.ok(null, "Deployed.");
    },
  });
  return { runs, prompt: createPrompt({ tools: [deploy] }) };
}

describe.skipIf(sdkMissing)("on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test.each([
    ["approve", ["deploy"], "Deployed."],
    ["deny", [], "The call was not made: it was denied."],
  ] as const)(
    "a parked tool call continues in another process with %s",
    async (decision, expected, read) => {
      const { runs, prompt } = createDeploy();
      const endpoint = await startScriptedServer([
        { content: [toolUse("mcp__wink__deploy", {})] },
        done,
      ]);
      const store = new MemorySessionStore();
      const first = await reopen(endpoint, store);
      const error = await first.runToError(prompt, { evaluate: { approve: park } });
      if (!(error instanceof EvaluationParkedError)) throw error;
      expect(error.approvals).toMatchObject([{ name: "deploy", params: null }]);
      expect([runs, endpoint.requests.length]).toEqual([[], 1]);
      const approvals = Object.fromEntries(error.approvals.map(({ key }) => [key, decision]));
      const second = await reopen(endpoint, store);
      const { text } = await second.run(prompt, { evaluate: { resume: true, approvals } });
      expect([text, runs]).toEqual(["Done.", expected]);
      expect(endpoint.requests.at(-1)?.text).toContain(read);
    },
  );

  test("a command is run, denied or parked, and approved once when the model repeats it", async () => {
    const endpoint = await startScriptedServer([createBash(), createBash(), createBash(), done]);
    const store = new MemorySessionStore();
    const tool = shellTool({}, { needsApproval: true });
    const asked: ApprovalRequest[] = [];
    const first = await reopen(endpoint, store);
    const workspace = first.createWorkspace();
    const prompt = createPrompt({ hostedTools: [tool] }, [workspace]);
    const error = await first.runToError(prompt, { evaluate: { approve: park } });
    if (!(error instanceof EvaluationParkedError)) throw error;
    expect(error.approvals).toMatchObject([
      { name: "shell", params: { commands: ["echo deployed > out.txt"] } },
    ]);
    expect(await workspace.filesystem.exists("out.txt")).toBe(false);
    const [{ key } = { key: "" }] = error.approvals;
    const second = await reopen(endpoint, store);
    const next = second.createWorkspace();
    const { text } = await second.run(createPrompt({ hostedTools: [tool] }, [next]), {
      evaluate: {
        resume: true,
        approvals: { [key]: "approve" },
        approve: async (request) => {
          asked.push(request);
          return "deny";
        },
      },
    });
    expect(text).toBe("Done.");
    expect(await next.filesystem.readText("out.txt")).toBe("deployed\n");
    expect(asked.map((request) => request.key)).toEqual([key]); // the third call needs another approval
    expect(endpoint.requests.at(-1)?.text).toContain("The call was not made: it was denied.");
    expect(endpoint.requests[1]?.text).toContain(
      "The call was not made yet: it waits for approval",
    );
  });

  test("changes of files need the approval that applyPatchTool asks for, and reading needs none", async () => {
    const endpoint = await startScriptedServer([
      { content: [toolUse("Read", { file_path: "a.txt" })] },
      { content: [toolUse("Write", { file_path: "b.txt", content: "x" })] },
      { content: [toolUse("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })] },
      done,
    ]);
    const fixture = createFixture(endpoint);
    const workspace = fixture.createWorkspace({ "a.txt": "one" });
    const asked: unknown[] = [];
    const needsApproval = ({ operation }: { readonly operation: string }) => operation === "create";
    const hostedTools = [applyPatchTool({}, { needsApproval })];
    await fixture.run(createPrompt({ hostedTools }, [workspace]), {
      evaluate: {
        approve: async ({ name, params }) => {
          asked.push({ name, params });
          return "deny";
        },
      },
    });
    expect(asked).toMatchObject([{ name: "apply_patch", params: { operation: "create" } }]);
    expect(await workspace.filesystem.exists("b.txt")).toBe(false);
    expect(await workspace.filesystem.readText("a.txt")).toBe("two");
  });
});
