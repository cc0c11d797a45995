import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { orAborted } from "../../base/clock.ts";
import { scrubbed, scrubbedError } from "../../base/scrubbed.ts";
import { FolderCheckpoint } from "../../files/checkpoint/folder-checkpoint.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { Session } from "../../session/session.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { AdapterSettings } from "../adapter-options.ts";
import type { Given } from "../given.ts";
import { modelOptions, modelVariables } from "../model-config.ts";
import { permissionOptions } from "../permissions.ts";
import { ClaudeHome } from "../process/claude-home.ts";
import { ClaudeProcess } from "../process/claude-process.ts";
import { claudeEnvironment } from "../process/environment.ts";
import { checkSandboxStarts } from "../sandbox/sandbox-check.ts";
import { needsSandbox, type SandboxedRun, sandboxOptions } from "../sandbox/sandbox-settings.ts";
import { SandboxTraces } from "../sandbox/sandbox-traces.ts";
import { loadSdk } from "../sdk.ts";
import { NativeTools } from "../tools/native-tools.ts";
import { SERVER } from "../tools/tool-bridge.ts";
import type { ClaudeAgentWorkspaceSection } from "../workspace/workspace-section.ts";
import type { NativeHooks } from "./native-call-tracker.ts";
import { NativeRollback } from "./rollback.ts";
import { ClaudeRun } from "./run.ts";
import { repeatPromptHooks } from "./split-hook-output.ts";
import type { Transcript } from "./transcript.ts";

/** What a run is made for. */
export interface HostSettings extends AdapterSettings {
  readonly session: Session;
  readonly rendered: RenderedPrompt;
  /** Those of the prompt that the model may use, now or once it has opened their sections. */
  readonly hostedTools: readonly HostedTool[];
  readonly workspace: ClaudeAgentWorkspaceSection | null;
  readonly transcript: Transcript;
  /** Ends the making ready; what another owns goes on. */
  readonly signal: AbortSignal;
  /** The prompt as the model has read it. */
  read(): string;
  /** Told that the SDK has made the conversation shorter. */
  compacted(about: Given): void;
}

/** How long the SDK may take to end by itself, once it has answered. */
const LAST_MOMENTS_MS = 2_000;

/** Owns all that one run has on this machine: folders, the process, what it takes to undo. */
export class RunHost {
  readonly run: ClaudeRun;
  readonly native: NativeTools;
  readonly #process: ClaudeProcess;
  readonly #secrets: readonly string[];
  readonly #owned: Owned;
  #closing: Promise<void> | null = null;

  private constructor(parts: HostParts, owned: Owned) {
    this.run = parts.run;
    this.native = parts.native;
    this.#process = parts.process;
    this.#secrets = parts.secrets;
    this.#owned = owned;
  }

  /** Makes everything ready; nothing is started before the run is. */
  static async open(settings: HostSettings): Promise<RunHost> {
    const owned = new Owned();
    try {
      return new RunHost(await partsOf(settings, owned), owned);
    } catch (error) {
      await owned.release();
      throw error;
    }
  }

  /** Whether the SDK's process was there at all. */
  get hasBegun(): boolean {
    return this.#process.pid !== null;
  }

  /** The last that the process wrote besides, for an error to quote. */
  get lastWords(): string {
    return this.#process.complaint;
  }

  /** What the SDK or the provider said, without what nobody may read. */
  readonly withoutSecrets = <Said>(said: Said): Said =>
    (said instanceof Error
      ? scrubbedError(said, this.#secrets)
      : scrubbed(said, this.#secrets)) as Said;

  /** Ends the process with all it has started, and removes what was made for it. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    try {
      if (this.run.isAnswered) await this.#endInOrder();
      await this.#owned.release();
    } finally {
      // Not sooner: an SDK that is let go before it has ended asks the model again.
      this.run.close();
      await this.run.ended();
    }
  }

  async #endInOrder(): Promise<void> {
    this.run.close();
    await endedWithin(this.#process, LAST_MOMENTS_MS);
  }
}

/** What must be given up, the latest first; one that fails does not keep the others. */
class Owned {
  readonly #releases: (() => Promise<void>)[] = [];

  add(release: () => Promise<void>): void {
    this.#releases.push(release);
  }

  async release(): Promise<void> {
    const failures: unknown[] = [];
    for (const release of this.#releases.reverse()) {
      await release().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures);
  }
}

interface HostParts {
  readonly run: ClaudeRun;
  readonly native: NativeTools;
  readonly process: ClaudeProcess;
  readonly secrets: readonly string[];
}

/** Given up in the opposite order: the process first, its folders last. */
async function partsOf(settings: HostSettings, owned: Owned): Promise<HostParts> {
  const { workspace, isolation, permissionMode, hostedTools } = settings;
  const sdk = settings.sdk ?? (await loadSdk());
  const home = await ClaudeHome.create();
  owned.add(() => home.remove());
  await orAborted(workspace?.ready() ?? Promise.resolve(), settings.signal);
  const cwd = await realpath(workspace?.tempDir ?? home.work);
  const env = { ...PATIENT, ...modelVariables(settings.modelConfig), ...settings.env };
  const folders = { home: home.home, temporary: home.temporary };
  const { variables, auth } = claudeEnvironment({ isolation, ...folders, env });
  // Where the SDK puts what a command wrote, if that is too long for the model.
  const readable = [join(home.home, ".claude", "projects"), home.temporary];
  const within = workspace ? cwd : null;
  const native = new NativeTools(hostedTools, { workspace: within, permissionMode, readable });
  const bounds = { isolation, mode: permissionMode, native: native.names, workspace: cwd };
  const sandboxed: SandboxedRun = { ...bounds, ...folders, auth };
  const isBound = needsSandbox(sandboxed);
  if (isBound) await checkSandboxStarts(variables["PATH"] ?? "");
  const traces = isBound ? new SandboxTraces(cwd) : null;
  if (traces) owned.add(() => traces.remove());
  const rollback = settings.rollsBack ? rollbackOf(settings, cwd) : null;
  if (rollback) owned.add(() => rollback.end());
  const process = new ClaudeProcess(auth);
  const options = {
    ...optionsOf(settings, cwd),
    hooks: repeatPromptHooks(settings.read),
    ...sandboxOptions(sandboxed),
    ...permissionOptions(permissionMode, { ...bounds, bridged: [`mcp__${SERVER}`] }),
    tools: native.names,
    env: variables,
    spawnClaudeCodeProcess: process.spawn,
  };
  const hooks = hooksOf(native, { rollback, traces });
  const run = new ClaudeRun({ sdk, options, native: hooks, compacted: settings.compacted });
  owned.add(() => process.stop());
  return { run, native, process, secrets: auth.secrets };
}

function rollbackOf({ session }: HostSettings, folder: string): NativeRollback {
  return new NativeRollback(session, new FolderCheckpoint(folder));
}

interface AroundCalls {
  readonly rollback: NativeRollback | null;
  readonly traces: SandboxTraces | null;
}

function hooksOf(native: NativeTools, { rollback, traces }: AroundCalls): NativeHooks {
  return {
    isOn: (name) => native.isOn(name),
    async before(use) {
      const verdict = await native.before(use);
      if (!("denied" in verdict)) await rollback?.before(use.id, use.name);
      return verdict;
    },
    async after({ id, name, error }) {
      // Our own tools, and whatever is restored, see the folder as commands left it.
      if (name === "Bash") await traces?.remove();
      await rollback?.after(id, error !== null);
    },
    idle: () => rollback?.idle(),
  };
}

/** Our tools take as long as they take, and the model sees all of them. */
const PATIENT = { MCP_TOOL_TIMEOUT: String(2 ** 31 - 1), ENABLE_TOOL_SEARCH: "false" };

/** Of the SDK's own files, settings and habits nothing is wanted: the prompt is the agent. */
function optionsOf(settings: HostSettings, cwd: string): Given {
  const { model, modelConfig, rendered, transcript } = settings;
  const { sessionId } = transcript;
  const schema = rendered.outputSchema;
  return {
    ...modelOptions(model, modelConfig),
    cwd,
    settingSources: [],
    strictMcpConfig: true,
    skills: [],
    verbatimPrompts: true,
    includePartialMessages: true,
    persistSession: true,
    sessionStore: transcript.store,
    sessionStoreFlush: "eager",
    ...(sessionId === null ? {} : { resume: sessionId }),
    ...(schema === null ? {} : { outputFormat: { type: "json_schema", schema } }),
  };
}

async function endedWithin(process: ClaudeProcess, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([process.ended, promise]);
  clearTimeout(timer);
}
