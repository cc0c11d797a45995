/**
 * A program that evaluates one prompt on the real SDK and then ends normally or crashes:
 * `node tests/support/claude/crash-main.ts URL ENDING SANDBOXED`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ClaudeAgentSDKAdapter, ClaudeAgentWorkspaceSection } from "../../../src/claude/index.ts";
import { MarkdownSection, Prompt, PromptTemplate, Session, shellTool } from "../../../src/index.ts";

/** How the program ends: with an answer, canceled, or by waiting to be killed or crashing. */
export type Ending = "answered" | "canceled" | "waits" | "throws" | "exits";

if (import.meta.main) {
  const [, , baseURL = "", ending = "answered", sandboxed = "false"] = process.argv;
  const session = new Session();
  const workspace = new ClaudeAgentWorkspaceSection({ session });
  const hostedTools = [shellTool()];
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Go.", hostedTools });
  const template = new PromptTemplate({ ns: "test", key: "run", sections: [workspace, task] });
  const sandbox = { enabled: sandboxed === "true" };
  const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: "k", baseURL, sandbox } });
  const given = new AbortController();
  if (ending !== "answered") void endAfterStart(ending, workspace.tempDir, given);
  const [done] = await Promise.allSettled([
    adapter.evaluate(new Prompt(template), { session, signal: given.signal }),
  ]);
  await workspace.cleanup();
  process.stdout.write(done.status === "fulfilled" ? `${done.value.text}\n` : `${done.reason}\n`);
}

/** Ends the program in the given way after a command has started. */
async function endAfterStart(
  ending: string,
  folder: string,
  controller: AbortController,
): Promise<void> {
  while (!existsSync(join(folder, "started"))) await pause(20);
  process.stdout.write("started\n");
  await pause(1_000); // so that the test can check that the command runs
  if (ending === "canceled") controller.abort(new Error("I changed my mind"));
  if (ending === "exits") process.exit(0);
  if (ending === "throws") setImmediate(() => JSON.parse("invalid JSON"));
}
