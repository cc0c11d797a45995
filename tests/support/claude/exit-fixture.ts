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
import { createPrompt } from "./claude-fixture.ts";
import { listFolderProcesses, type SeenProcess } from "./folder-processes.ts";
import { type MessagesScript, startMessagesServer, toolUse } from "./messages-server.ts";

declare module "../../../src/session/event-map.ts" {
  interface EventMap {
    EndingNoted: { readonly type: "EndingNoted"; readonly note: string };
  }
}

/** The notes of a session, from `noteTool` or events. */
export const notesSlice = defineSlice<readonly string[]>("ending.noted", {
  initial: [],
  on: { EndingNoted: (all, { note }) => [...all, note] },
});

/** A tool that adds a note to the session and writes a file. */
export const noteTool = new Tool({
  name: "note",
  description: "Notes something.",
  params: null,
  handler: async (_params, { session, filesystem }) => {
    session.dispatch({ type: "EndingNoted", note: "by our tool" });
    await filesystem?.writeText("noted.txt", "by our tool");
    return ToolResult.ok(null, "Noted.");
  },
});

/** Creates a tool that adds a note, writes a file and never returns. `started` settles when it runs. */
export function createHangingTool() {
  const started = Promise.withResolvers<void>();
  const tool = new Tool({
    name: "hang",
    description: "Never returns.",
    params: null,
    handler: async (_params, { session, filesystem }) => {
      session.dispatch({ type: "EndingNoted", note: "by a tool that hangs" });
      await filesystem?.writeText("hung.txt", "by a tool that hangs");
      started.resolve();
      return await new Promise<never>(() => {});
    },
  });
  return { tool, started: started.promise };
}

/** Creates a `Bash` call. Its command first creates the file `started`. */
export function useBash(command: string) {
  return toolUse("Bash", { command: `touch started; ${command}`, description: "A command." });
}

/** Creates a call to a tool of the prompt. */
export function useTool(tool: Tool) {
  return toolUse(`mcp__wink__${tool.name}`, {});
}

export interface EndingOptions {
  readonly adapter?: ClaudeAgentSDKAdapterOptions;
  readonly tools?: readonly Tool[];
  /** Whether commands run in a sandbox. @default false */
  readonly isSandboxed?: boolean;
  readonly files?: Tree;
}

/** Creates a temporary folder for the test only, and uses it as this process's `TMPDIR`. */
export function createTemporaryFolder(): string {
  // Short, because the SDK creates sockets there, and socket paths have a length limit.
  const folder = realpathSync(mkdtempSync("/tmp/we-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  onTestFinished(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    for (const { pid } of listFolderProcesses(folder)) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Creates an agent with a workspace, commands and tools on the real SDK, to check its cleanup. */
export async function createEndingFixture(script: MessagesScript, options: EndingOptions = {}) {
  const { tools = [noteTool], isSandboxed = false, files = { "a.txt": "one" } } = options;
  const temporary = createTemporaryFolder();
  const server = await startMessagesServer(script);
  onTestFinished(() => server.close());
  const bus = recordingBus();
  const session = new Session({ bus });
  session.register(notesSlice);
  session.dispatch({ type: "EndingNoted", note: "before" });
  const mounts = [{ hostPath: temporaryTree(files), mountPath: "." }];
  const section = new ClaudeAgentWorkspaceSection({ session, mounts });
  const prompt = createPrompt({ tools, hostedTools: [shellTool()] }, [section]);
  const adapter = new ClaudeAgentSDKAdapter({
    isolation: { apiKey: "k", baseURL: server.url, sandbox: { enabled: isSandboxed } },
    ...options.adapter,
  });
  const findSdkProcess = (): SeenProcess | null =>
    listFolderProcesses(temporary).find(
      ({ parent, run }) => parent === process.pid && run !== null,
    ) ?? null;
  const getHome = () => basename(dirname(section.tempDir));
  const listFolders = () => readdirSync(temporary).filter((name) => name !== getHome());

  return {
    ...{ temporary, server, bus, session, section, adapter, prompt },
    /** Evaluates the prompt, which must fail, and returns the error. */
    async runToError(options: Partial<EvaluateOptions> = {}): Promise<PromptEvaluationError> {
      const [done] = await Promise.allSettled([this.run(options)]);
      if (done.status === "rejected") return done.reason;
      throw new Error(`The evaluation succeeded: ${JSON.stringify(done.value)}`);
    },
    async run(options: Partial<EvaluateOptions> = {}): Promise<PromptResponse<string>> {
      return await adapter.evaluate(prompt, { session, ...options });
    },
    /** Returns the current notes of the session. */
    readNotes: () => session.get(notesSlice),
    /** Waits until a command has started. */
    async waitForCommand(): Promise<void> {
      await expect.poll(() => existsSync(join(section.tempDir, "started"))).toBe(true);
    },
    listProcesses: () => listFolderProcesses(temporary),
    /** Lists the temporary folder's entries, without the workspace. */
    listFolders,
    /** Finds the SDK's own process; `null` if it is not running. */
    findSdkProcess,
    killSdk(): void {
      const { pid } = findSdkProcess() ?? { pid: 0 };
      if (pid === 0) throw new Error("The SDK's process is not running");
      process.kill(pid, "SIGKILL");
    },
    /** Checks that only the workspace remains, and that its cleanup removes it too. */
    async expectNothingLeft(): Promise<void> {
      expect(listFolderProcesses(temporary)).toEqual([]);
      expect(listFolders()).toEqual([]);
      await section.cleanup();
      expect(readdirSync(temporary)).toEqual([]);
    },
  };
}

export type EndingFixture = Awaited<ReturnType<typeof createEndingFixture>>;
