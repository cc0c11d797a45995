import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { raceAbort } from "../../base/clock.ts";
import type { UnknownRecord } from "../../base/json.ts";
import { redact, redactError } from "../../base/redact.ts";
import { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { Session } from "../../session/session.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { AdapterSettings } from "../adapter-options.ts";
import { toPermissionOptions } from "../permissions.ts";
import { createClaudeEnvironment } from "../process/claude-environment.ts";
import { ClaudeHome } from "../process/claude-home.ts";
import { ClaudeProcess } from "../process/claude-process.ts";
import { prepareSandbox } from "../sandbox/prepare-sandbox.ts";
import { needsSandbox, toSandboxOptions } from "../sandbox/sandbox-options.ts";
import { loadSdk } from "../sdk.ts";
import { NativeTools } from "../tools/native-tools.ts";
import { SERVER_NAME } from "../tools/tool-bridge.ts";
import type { WorkspaceOwner } from "../workspace/host-workspace.ts";
import { ClaudeRun, type RunSettings } from "./claude-run.ts";
import { createNativeHooks } from "./native-call-tracker.ts";
import { NativeRollback } from "./native-rollback.ts";
import type { SentPrompt } from "./sent-prompt.ts";
import { createRepeatPromptHooks } from "./split-hook-output.ts";
import type { Transcript } from "./transcript.ts";
import { TurnReporter } from "./turn-reporter.ts";

/** Settings of a run's resources. */
export interface RunResourcesSettings extends AdapterSettings {
  readonly session: Session;
  readonly rendered: RenderedPrompt;
  /** The hosted tools that the model may use now, or after it opens their sections. */
  readonly hostedTools: readonly HostedTool[];
  readonly workspace: WorkspaceOwner | null;
  readonly transcript: Transcript;
  /** Aborts the preparation. Mounts are still copied to the workspace, which others may share. */
  readonly signal: AbortSignal;
  /** The prompt as the model has it. */
  readonly sentPrompt: SentPrompt;
  /** Called with the SDK's metadata when it has compacted the conversation. */
  onCompacted(metadata: UnknownRecord): void;
  /** Decides about a call to a native tool that needs approval. */
  readonly decideCall: Parameters<typeof createNativeHooks>[1]["decideCall"];
  /** A longer wait of the SDK before it repeats a request ends the run. @default any wait */
  readonly maxRetryMs?: number | undefined;
  /** Called when a message's calls have ended. @default does nothing */
  readonly onBatch?: RunSettings["onBatch"];
}

/** Time for the SDK to exit after its answer, before its process is stopped. */
const EXIT_TIMEOUT_MS = 2_000;

/** Disables the time limit for tool calls and the SDK's tool search. */
const SDK_VARIABLES = { MCP_TOOL_TIMEOUT: String(2 ** 31 - 1), ENABLE_TOOL_SEARCH: "false" };

/** Only the prompt instructs the model: the SDK loads no files, settings or skills. */
const SDK_OPTIONS = {
  settingSources: [],
  strictMcpConfig: true,
  skills: [],
  verbatimPrompts: true,
  includePartialMessages: true,
};

/** Owns a run's folders, process and undo copies on the host. */
export class RunResources {
  readonly run: ClaudeRun;
  readonly native: NativeTools;
  readonly reporter: TurnReporter;
  readonly sentPrompt: SentPrompt;
  readonly #process: ClaudeProcess;
  readonly #secrets: readonly string[];
  readonly #cleanup: Cleanup;
  #closing: Promise<void> | null = null;

  private constructor(parts: RunParts, cleanup: Cleanup) {
    this.run = parts.run;
    this.native = parts.native;
    this.reporter = parts.reporter;
    this.sentPrompt = parts.sentPrompt;
    this.#process = parts.process;
    this.#secrets = parts.secrets;
    this.#cleanup = cleanup;
  }

  /** Prepares a run. The process starts when the run starts. */
  static async open(settings: RunResourcesSettings): Promise<RunResources> {
    const cleanup = new Cleanup();
    try {
      return new RunResources(await prepareParts(settings, cleanup), cleanup);
    } catch (error) {
      await cleanup.run();
      throw error;
    }
  }

  /** Whether the SDK's process has been started. */
  get hasStarted(): boolean {
    return this.#process.pid !== null;
  }

  /** The process's last output on stderr, with secrets redacted. */
  get stderrTail(): string {
    return this.#process.stderrTail;
  }

  /** Returns a copy of a value from the SDK or the provider, with credentials redacted. */
  readonly redact = <Value>(value: Value): Value =>
    (value instanceof Error
      ? redactError(value, this.#secrets)
      : redact(value, this.#secrets)) as Value;

  /** Stops all processes of the run and removes its temporary files. Idempotent. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    try {
      if (this.run.hasResult) {
        this.run.close();
        await this.#process.waitForEnd(EXIT_TIMEOUT_MS);
      }
      await this.#cleanup.run();
    } finally {
      // Not earlier: if its calls are released while its process runs, the SDK sends a new request.
      this.run.close();
      await this.run.waitForEnd();
    }
  }
}

/** Cleanup steps that run in reverse order. A failed step does not prevent the others. */
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

interface RunParts {
  readonly run: ClaudeRun;
  readonly native: NativeTools;
  readonly reporter: TurnReporter;
  readonly sentPrompt: SentPrompt;
  readonly process: ClaudeProcess;
  readonly secrets: readonly string[];
}

/**
 * Creates the parts of a run. Registers each part's cleanup as soon as the part exists, so that the
 * process is stopped first and the folders are removed last.
 */
async function prepareParts(settings: RunResourcesSettings, cleanup: Cleanup): Promise<RunParts> {
  const { workspace, isolation, permissionMode: mode, hostedTools, rendered } = settings;
  const sdk = settings.sdk ?? (await loadSdk());
  const home = await ClaudeHome.create();
  cleanup.add(() => home.remove());
  await raceAbort(workspace?.ready() ?? Promise.resolve(), settings.signal);
  const cwd = await realpath(workspace?.tempDir ?? home.work);
  const folders = { home: home.home, temporary: home.temporary };
  const env = { ...SDK_VARIABLES, ...settings.env };
  const { variables, auth } = createClaudeEnvironment({ isolation, ...folders, env });
  const native = new NativeTools(hostedTools, {
    workspace: workspace ? cwd : null,
    permissionMode: mode,
    // The SDK stores command output here if it is too long for the model.
    readable: [join(home.home, ".claude", "projects"), home.temporary],
  });
  const bounds = { isolation, mode, native: native.names, workspace: cwd, ...folders, auth };
  const isSandboxed = needsSandbox(bounds);
  const leftovers = isSandboxed ? await prepareSandbox(variables["PATH"] ?? "", cwd) : null;
  if (leftovers) cleanup.add(() => leftovers.remove());
  const rollback = settings.rollsBack
    ? new NativeRollback(settings.session, new FolderCheckpoint(cwd))
    : null;
  if (rollback) cleanup.add(() => rollback.end());
  const process = new ClaudeProcess(auth);
  const schema = rendered.outputSchema;
  const options = {
    ...SDK_OPTIONS,
    ...settings.modelOptions,
    cwd,
    ...settings.transcript.options,
    ...(schema === null ? {} : { outputFormat: { type: "json_schema", schema } }),
    ...toSystemPromptOption(settings.sentPrompt),
    hooks: createRepeatPromptHooks(() => settings.sentPrompt.repeat()),
    ...toSandboxOptions(bounds),
    ...toPermissionOptions(mode, { ...bounds, bridged: [`mcp__${SERVER_NAME}`] }),
    tools: native.names,
    env: variables,
    spawnClaudeCodeProcess: process.spawn,
  };
  const { onCompacted, onBatch, decideCall, maxRetryMs } = settings;
  const hooks = createNativeHooks(native, { rollback, leftovers, decideCall });
  const reporter = new TurnReporter({
    isStructured: schema !== null,
    findNative: (name) => native.findReported(name),
  });
  const handlers = { native: hooks, reporter, onCompacted, onBatch };
  const run = new ClaudeRun({ sdk, options, ...handlers, maxRetryMs });
  cleanup.add(() => process.stop());
  const { sentPrompt } = settings;
  return { run, native, reporter, sentPrompt, process, secrets: auth.secrets };
}

/**
 * Without a snapshot, because the SDK would otherwise ignore the system prompt of a run that resumes a
 * conversation. A prompt without system text leaves the SDK's own, as in runs without a user part.
 */
function toSystemPromptOption({ systemPrompt: prompt }: SentPrompt): UnknownRecord {
  return prompt === null ? {} : { systemPrompt: { type: "custom", prompt, snapshot: false } };
}
