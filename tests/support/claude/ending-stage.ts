import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  defineSlice,
  type EvaluateOptions,
  type PromptEvaluationError,
  type PromptResponse,
  Session,
  shellTool,
  Tool,
  ToolResult,
} from "weakincentives";
import {
  ClaudeAgentSDKAdapter,
  type ClaudeAgentSDKAdapterOptions,
  ClaudeAgentWorkspaceSection,
} from "weakincentives/claude";
import { recordingBus } from "weakincentives/testing";
import { type Tree, temporaryTree } from "../temporary-tree.ts";
import { processesAbout, type SeenProcess } from "./left-behind.ts";
import { type MessagesScript, messagesServer, use } from "./messages-server.ts";
import { promptOf } from "./stage.ts";

declare module "../../../src/session/event-map.ts" {
  interface EventMap {
    EndingNoted: { readonly type: "EndingNoted"; readonly note: string };
  }
}

/** What tests noted in a session, by `note` or by an event of their own. */
export const noted = defineSlice<readonly string[]>("ending.noted", {
  initial: [],
  on: { EndingNoted: (all, { note }) => [...all, note] },
});

/** A tool of ours that notes, writes a file, and is done. */
export const note = new Tool({
  name: "note",
  description: "Notes something.",
  params: null,
  handler: async (_params, { session, filesystem }) => {
    session.dispatch({ type: "EndingNoted", note: "by our tool" });
    await filesystem?.writeText("noted.txt", "by our tool");
    return ToolResult.ok(null, "Noted.");
  },
});

/** The same, but it never returns, whatever it is told; `begun` says that it runs. */
export function hungTool() {
  const begun = Promise.withResolvers<void>();
  const tool = new Tool({
    name: "hang",
    description: "Never returns.",
    params: null,
    handler: async (_params, { session, filesystem }) => {
      session.dispatch({ type: "EndingNoted", note: "by a tool that hangs" });
      await filesystem?.writeText("hung.txt", "by a tool that hangs");
      begun.resolve();
      return await new Promise<never>(() => {});
    },
  });
  return { tool, begun: begun.promise };
}

/** Has the SDK run a command, which says in a file that it has begun. */
export function bash(command: string) {
  return use("Bash", { command: `touch begun; ${command}`, description: "A command." });
}

/** Has it call a tool of ours. */
export function own(tool: Tool) {
  return use(`mcp__wink__${tool.name}`, {});
}

export interface EndingOptions {
  readonly adapter?: ClaudeAgentSDKAdapterOptions;
  readonly tools?: readonly Tool[];
  /** Whether commands are bound by the machine. @default false */
  readonly isSandboxed?: boolean;
  readonly files?: Tree;
}

/** A temporary folder of the test's own, for this process too: nobody else leaves anything in it. */
export function ownTemporaryFolder(): string {
  // Short: the SDK has sockets in it, whose paths may not be long.
  const folder = realpathSync(mkdtempSync("/tmp/we-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    for (const { pid } of processesAbout(folder)) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** An agent with a workspace, commands and tools of ours, on the real SDK, and what it leaves. */
export async function endingStage(script: MessagesScript, options: EndingOptions = {}) {
  const { tools = [note], isSandboxed = false, files = { "a.txt": "one" } } = options;
  const temporary = ownTemporaryFolder();
  const server = await messagesServer(script);
  onTestFinished(() => server.close());
  const bus = recordingBus();
  const session = new Session({ bus });
  session.register(noted);
  session.dispatch({ type: "EndingNoted", note: "before" });
  const mounts = [{ hostPath: temporaryTree(files), mountPath: "." }];
  const section = new ClaudeAgentWorkspaceSection({ session, mounts });
  const prompt = promptOf({ tools, hostedTools: [shellTool()] }, [section]);
  const adapter = new ClaudeAgentSDKAdapter({
    isolation: { apiKey: "k", baseURL: server.url, sandbox: { enabled: isSandboxed } },
    ...options.adapter,
  });
  const sdkProcess = (): SeenProcess | null =>
    processesAbout(temporary).find(({ parent, run }) => parent === process.pid && run !== null) ??
    null;
  const home = () => basename(dirname(section.tempDir));
  const folders = () => readdirSync(temporary).filter((name) => name !== home());

  return {
    ...{ temporary, server, bus, session, section, adapter, prompt },
    /** Evaluates the prompt, and gives what it throws. */
    async failure(given: Partial<EvaluateOptions> = {}): Promise<PromptEvaluationError> {
      const [done] = await Promise.allSettled([this.run(given)]);
      if (done.status === "rejected") return done.reason;
      throw new Error(`It was answered: ${JSON.stringify(done.value)}`);
    },
    async run(given: Partial<EvaluateOptions> = {}): Promise<PromptResponse<string>> {
      return await adapter.evaluate(prompt, { session, ...given });
    },
    /** What tests and tools have noted, as it is now. */
    noted: () => session.get(noted),
    /** Settles when a command of the SDK's has begun. */
    async commandBegun(): Promise<void> {
      await expect.poll(() => existsSync(join(section.tempDir, "begun"))).toBe(true);
    },
    processes: () => processesAbout(temporary),
    /** What is in the temporary folder besides the workspace. */
    folders,
    /** The SDK's own process; `null` while there is none. */
    sdkProcess,
    killSdk(): void {
      const { pid } = sdkProcess() ?? { pid: 0 };
      if (pid === 0) throw new Error("The SDK's process is not there");
      process.kill(pid, "SIGKILL");
    },
    /** Nothing is left but the workspace, which the test still holds; then not even that. */
    async expectNothingLeft(): Promise<void> {
      expect(processesAbout(temporary)).toEqual([]);
      expect(folders()).toEqual([]);
      await section.cleanup();
      expect(readdirSync(temporary)).toEqual([]);
    },
  };
}

export type EndingStage = Awaited<ReturnType<typeof endingStage>>;
