import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { orAborted } from "../../base/clock.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { scrubbed, scrubbedError } from "../../base/scrubbed.ts";
import { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { Session } from "../../session/session.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { AdapterSettings } from "../adapter-options.ts";
import { permissionOptions } from "../permissions.ts";
import { ClaudeHome } from "../process/claude-home.ts";
import { ClaudeProcess } from "../process/claude-process.ts";
import { claudeEnvironment } from "../process/environment.ts";
import { prepareSandbox } from "../sandbox/prepare-sandbox.ts";
import { needsSandbox, sandboxOptions } from "../sandbox/sandbox-settings.ts";
import { loadSdk } from "../sdk.ts";
import { NativeTools } from "../tools/native-tools.ts";
import { SERVER } from "../tools/tool-bridge.ts";
import type { WorkspaceOwner } from "../workspace/workspace.ts";
import { createNativeHooks } from "./native-call-tracker.ts";
import { NativeRollback } from "./rollback.ts";
import { ClaudeRun } from "./run.ts";
import { repeatPromptHooks } from "./split-hook-output.ts";
import type { Transcript } from "./transcript.ts";

/** What the resources of a run are made from. */
export interface RunResourcesSettings extends AdapterSettings {
  readonly session: Session;
  readonly rendered: RenderedPrompt;
  /** The hosted tools that the model may use now, or once it has opened their sections. */
  readonly hostedTools: readonly HostedTool[];
  readonly workspace: WorkspaceOwner | null;
  readonly transcript: Transcript;
  /** Aborts the preparation. The workspace may continue to fill, because others share it. */
  readonly signal: AbortSignal;
  /** Returns the prompt as the model has last read it. */
  promptText(): string;
  /** Called when the SDK has compacted the conversation. */
  compacted(about: UnknownRecord): void;
}

/** How long the SDK may take to end by itself once it has answered. */
const LAST_MOMENTS_MS = 2_000;

/** Tool calls have no time limit, and the model sees all tools at once. */
const VARIABLES = { MCP_TOOL_TIMEOUT: String(2 ** 31 - 1), ENABLE_TOOL_SEARCH: "false" };

/** Nothing but the prompt instructs the model: no files, settings or skills of the SDK. */
const OPTIONS = {
  settingSources: [],
  strictMcpConfig: true,
  skills: [],
  verbatimPrompts: true,
  includePartialMessages: true,
};

/** Owns everything that one run has on this machine: its folders, its process, and its undo copies. */
export class RunResources {
  readonly run: ClaudeRun;
  readonly native: NativeTools;
  readonly #process: ClaudeProcess;
  readonly #secrets: readonly string[];
  readonly #cleanup: Cleanup;
  #closing: Promise<void> | null = null;

  private constructor(parts: Parts, cleanup: Cleanup) {
    this.run = parts.run;
    this.native = parts.native;
    this.#process = parts.process;
    this.#secrets = parts.secrets;
    this.#cleanup = cleanup;
  }

  /** Prepares everything. The process starts with the run. */
  static async open(settings: RunResourcesSettings): Promise<RunResources> {
    const cleanup = new Cleanup();
    try {
      return new RunResources(await prepare(settings, cleanup), cleanup);
    } catch (error) {
      await cleanup.run();
      throw error;
    }
  }

  /** Whether the SDK's process was started. */
  get hasStarted(): boolean {
    return this.#process.pid !== null;
  }

  /** The last lines that the process wrote to stderr, for an error to quote. */
  get stderrTail(): string {
    return this.#process.complaint;
  }

  /** Redacts credentials in what the SDK or the provider said. */
  readonly withoutSecrets = <Said>(said: Said): Said =>
    (said instanceof Error
      ? scrubbedError(said, this.#secrets)
      : scrubbed(said, this.#secrets)) as Said;

  /** Ends the process with everything it has started, and removes what was created for it. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    try {
      if (this.run.isAnswered) {
        this.run.close();
        await this.#process.endedWithin(LAST_MOMENTS_MS);
      }
      await this.#cleanup.run();
    } finally {
      // Not sooner: an SDK that is released before its process has ended asks the model again.
      this.run.close();
      await this.run.ended();
    }
  }
}

/** Cleanup steps, run in reverse order. All of them run, even if one fails. */
class Cleanup {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.reverse()) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  }
}

interface Parts {
  readonly run: ClaudeRun;
  readonly native: NativeTools;
  readonly process: ClaudeProcess;
  readonly secrets: readonly string[];
}

/** Registers the cleanup of each part as soon as it exists: the process ends first, folders go last. */
async function prepare(settings: RunResourcesSettings, cleanup: Cleanup): Promise<Parts> {
  const { workspace, isolation, permissionMode: mode, hostedTools, rendered } = settings;
  const sdk = settings.sdk ?? (await loadSdk());
  const home = await ClaudeHome.create();
  cleanup.add(() => home.remove());
  await orAborted(workspace?.ready() ?? Promise.resolve(), settings.signal);
  const cwd = await realpath(workspace?.tempDir ?? home.work);
  const folders = { home: home.home, temporary: home.temporary };
  const env = { ...VARIABLES, ...settings.env };
  const { variables, auth } = claudeEnvironment({ isolation, ...folders, env });
  const native = new NativeTools(hostedTools, {
    workspace: workspace ? cwd : null,
    permissionMode: mode,
    // Where the SDK puts the output of a command that is too long for the model.
    readable: [join(home.home, ".claude", "projects"), home.temporary],
  });
  const bounds = { isolation, mode, native: native.names, workspace: cwd, ...folders, auth };
  const isBound = needsSandbox(bounds);
  const leftovers = isBound ? await prepareSandbox(variables["PATH"] ?? "", cwd) : null;
  if (leftovers) cleanup.add(() => leftovers.remove());
  const rollback = settings.rollsBack
    ? new NativeRollback(settings.session, new FolderCheckpoint(cwd))
    : null;
  if (rollback) cleanup.add(() => rollback.end());
  const process = new ClaudeProcess(auth);
  const schema = rendered.outputSchema;
  const options = {
    ...OPTIONS,
    ...settings.modelOptions,
    cwd,
    ...settings.transcript.options,
    ...(schema === null ? {} : { outputFormat: { type: "json_schema", schema } }),
    hooks: repeatPromptHooks(settings.promptText),
    ...sandboxOptions(bounds),
    ...permissionOptions(mode, { ...bounds, bridged: [`mcp__${SERVER}`] }),
    tools: native.names,
    env: variables,
    spawnClaudeCodeProcess: process.spawn,
  };
  const hooks = createNativeHooks(native, { rollback, leftovers });
  const run = new ClaudeRun({ sdk, options, native: hooks, compacted: settings.compacted });
  cleanup.add(() => process.stop());
  return { run, native, process, secrets: auth.secrets };
}
