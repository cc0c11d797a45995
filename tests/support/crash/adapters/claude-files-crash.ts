import { join } from "node:path";
import {
  ClaudeAgentSDKAdapter,
  ClaudeAgentWorkspaceSection,
} from "../../../../src/claude/index.ts";
import { MarkdownSection, Prompt, PromptTemplate } from "../../../../src/index.ts";
import { shellTool } from "../../../../src/tools/hosted/shell.ts";
import { Tool } from "../../../../src/tools/tool.ts";
import { ToolResult } from "../../../../src/tools/tool-result.ts";
import { startMessagesServer, textBlock, toolUse } from "../../claude/messages-server.ts";
import type { CrashChild } from "../crash-child.ts";
import type { CrashSubject } from "../crash-subject.ts";

const useBash = (command: string, id: string) =>
  toolUse("Bash", { command, description: "Changes files" }, id);

/** The model's turns: the ids of the calls identify the next turn. */
const turns = [
  [useBash("echo one >> log.txt && rm -f old.txt", "bash_1")],
  [useBash("echo two >> log.txt", "bash_2"), toolUse("mcp__wink__append", {}, "append_1")],
  [toolUse("mcp__wink__append", {}, "append_2"), useBash("echo four >> log.txt", "bash_3")],
  [textBlock("Done.")],
] as const;

/** The real Claude Agent SDK with a workspace, whose files Bash and a local tool change. */
export async function createCrashSubject(child: CrashChild): Promise<CrashSubject> {
  const { folder, details, ledger } = child;
  const server = await startMessagesServer(async ({ text }) => {
    const next = turns.findIndex((calls) => !calls.every(({ id }) => text.includes(String(id))));
    const turn = next === -1 ? turns.length : next + 1;
    ledger.add({ what: "request", turn, answers: findReports(text) });
    await child.reach("request");
    return { content: turns[turn - 1] ?? [], id: `turn_${turn}` };
  });
  const workspace = new ClaudeAgentWorkspaceSection({
    session: child.session,
    mounts: [{ hostPath: join(folder, "mount"), mountPath: "." }],
    syncDestination: join(folder, "result"),
    syncOnCleanup: true,
    ...(details["persists"] === "true" && { persistDir: join(folder, "kept") }),
  });
  const append = new Tool({
    name: "append",
    description: "Appends a line.",
    params: null,
    effects: "idempotent",
    handler: async (_, { filesystem, callKey }) => {
      await child.reach("before append");
      const before = (await filesystem?.readText("log.txt")) ?? "";
      await filesystem?.writeText("log.txt", `${before}line\n`);
      ledger.add({ what: "effect", tool: "append", key: callKey });
      await child.reach("after append");
      return ToolResult.ok(null, "Appended.");
    },
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Do it.",
    tools: [append],
    hostedTools: [shellTool()],
  });
  const template = new PromptTemplate({ ns: "crash", key: "files", sections: [task, workspace] });
  const isolation = { apiKey: "key", baseURL: server.url, sandbox: { enabled: false } };
  return {
    adapter: new ClaudeAgentSDKAdapter({ isolation }),
    prompt: new Prompt(template),
    close: async () => {
      ledger.add({ what: "event", type: "diff", event: [...(await workspace.diff()).files] });
      await workspace.cleanup();
      await server.close();
    },
  };
}

/** Returns a request's reports other than results: a call whose outcome is not known, and lost files. */
function findReports(text: string): readonly string[] {
  const lost = "- log.txt: it was changed in the workspace and not kept";
  return ["[Tool call interrupted", lost].filter((report) => text.includes(report));
}
