import type { Announcement } from "../../adapter/announce.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { InvalidOptionError, messageOf } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type {
  AutoContainerConfig,
  CodeInterpreterConfig,
} from "../../tools/hosted/code-interpreter.ts";
import type { ShellConfig } from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { CodecEnv } from "../codecs/codec.ts";
import type { CompactionSettings } from "../compaction/compaction-config.ts";
import { complaintAboutContainer } from "../errors/complaint.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { isContainerGone } from "../http/container-calls.ts";
import type { Patience } from "../http/patience.ts";
import type { OpenAIModelConfig } from "../model-config.ts";
import type { WireItem } from "../wire.ts";
import { printedIn } from "../workspace/block-runner.ts";
import { containerSettings } from "../workspace/container-config.ts";
import { archiveName, ContainerWorkspace } from "../workspace/container-workspace.ts";
import { OpenAIContainerWorkspaceSection } from "../workspace/container-workspace-section.ts";
import { workspaceText } from "../workspace/workspace-text.ts";
import { HeldContainers } from "./held-containers.ts";

/** What a conversation's container is found and made by. */
export interface ConversationContainerSettings {
  readonly client: OpenAIClient;
  readonly model: string;
  readonly modelConfig: OpenAIModelConfig;
  readonly timeoutMs: number;
  readonly env: CodecEnv;
  readonly prompt: Prompt;
  readonly workspace: ContainerWorkspace | null;
  readonly patience: Patience;
  readonly compaction: CompactionSettings;
}

/** The container that a conversation's code runs in, where it is ours: a workspace's, or a mount's. */
export class ConversationContainer {
  readonly #settings: ConversationContainerSettings;
  readonly #announce: (event: Announcement) => void;
  #workspace: ContainerWorkspace | null;
  /** Made for this conversation alone, from a tool's `hostMounts`. */
  #own: ContainerWorkspace | null = null;
  #hold: Disposable | null = null;
  readonly #held: HeldContainers;
  /** The containers that tools name, which are the caller's. */
  readonly #named = new Set<string>();
  #opening: string | null = null;
  #containerId: string | null = null;
  #told: readonly string[] = [];
  /** What was told in an answered request of this conversation. */
  readonly #known = new Set<string>();

  constructor(settings: ConversationContainerSettings, announce: (event: Announcement) => void) {
    this.#settings = settings;
    this.#announce = announce;
    this.#workspace = settings.workspace;
    this.#held = new HeldContainers(settings, announce);
  }

  /** What codecs are to know. */
  get env(): CodecEnv {
    const { env } = this.#settings;
    const workspace = this.#workspace;
    if (!workspace) return env;
    const { memoryLimit, networkPolicy } = workspace.containerSettings;
    const auto = { memoryLimit, ...(networkPolicy && { networkPolicy }) };
    return { ...env, containerId: this.#containerId, auto };
  }

  /** Refuses what could not work, before anything is sent. */
  check({ hostedTools }: RenderedPrompt): void {
    for (const id of hostedTools.flatMap(namedIn)) this.#named.add(id);
    const interpreter = hostedTools.find(({ kind }) => kind === "code_interpreter");
    const own = interpreter ? containerIn(interpreter) : undefined;
    const mounted = own && "type" in own && own.hostMounts ? own : null;
    if (this.#settings.workspace) {
      checkOneWorkspace(this.#settings.prompt);
      if (!hostedTools.some(runsCode)) throw noInterpreter();
      for (const tool of hostedTools) checkNoOtherContainer(tool);
    } else if (mounted && interpreter && !this.#own) {
      this.#own = this.#mount(mounted, interpreter.name);
      this.#hold = this.#own.hold(this.#settings.patience.clock);
      this.#workspace = this.#own;
    }
  }

  /** Makes the container ready; gives what the model is to read before it goes on. */
  async prepare(promptName: string, signal: AbortSignal): Promise<readonly string[]> {
    const workspace = this.#workspace;
    if (!workspace) return [];
    const { client, model, modelConfig, timeoutMs, patience } = this.#settings;
    const announce = this.#announce;
    const { zdrMode: isTransient } = this.#settings.compaction;
    workspace.bind({ client, model, modelConfig, timeoutMs, patience, announce, isTransient });
    return await this.#failing(promptName, signal, async () => {
      const { containerId, notes, lasting } = await workspace.prepare(signal);
      this.#became(containerId);
      const opening = this.#opening === null ? [] : [this.#opening];
      this.#told = [...opening, ...this.#untold(lasting), ...notes];
      return this.#told;
    });
  }

  /** Another container in place of one that is gone; `null` if the failure is about something else. */
  async replace(
    error: OpenAIRequestError,
    promptName: string,
    signal: AbortSignal,
  ): Promise<{ readonly containerId: string; readonly notes: readonly string[] } | null> {
    const workspace = this.#workspace;
    const id = this.#containerId;
    if (!workspace || id === null || !isContainerGone(error)) return null;
    return await this.#failing(promptName, signal, async () => {
      // It may be about another one, which earlier calls ran in.
      if (complaintAboutContainer(error) && (await workspace.isAlive(id, signal))) return null;
      await workspace.replace(id, error, signal);
      const before = new Set(this.#told);
      const { containerId, notes, lasting } = await workspace.prepare(signal);
      this.#became(containerId);
      const untold = [...this.#untold(lasting), ...notes].filter((note) => !before.has(note));
      this.#told = [...this.#told, ...untold];
      return { containerId: id, notes: untold };
    });
  }

  /** What it means that a request failed for good; `null` if it is not about our container. */
  lost(error: OpenAIRequestError, promptName: string): PromptEvaluationError | null {
    const workspace = this.#workspace;
    const id = this.#containerId;
    if (!workspace || id === null || !isContainerGone(error)) return null;
    workspace.lose(id, error);
    const remedy = "so is the one before it; what was written is kept, try again";
    const cause = new ContainerExpiredError(id, error, remedy);
    return failed(cause, promptName);
  }

  /** The containers of ours that are no more. */
  get gone(): ReadonlySet<string> {
    return this.#workspace?.gone ?? NONE;
  }

  /** A request failed, and code may have run in it. */
  interrupted(): void {
    this.#workspace?.interrupted();
  }

  /** Takes note of what an answer holds; gives what our own requests have cost. */
  async turned(turn: Turn, items: readonly WireItem[], signal: AbortSignal): Promise<TokenUsage> {
    const workspace = this.#workspace;
    const ran = turn.hostedCalls.filter(({ containerId }) => containerId !== undefined);
    if (!workspace) {
      this.#held.see(turn, this.#named);
      return noUsage;
    }
    for (const { containerId = null } of ran) this.#held.seeWorkspace(containerId);
    for (const note of this.#told) this.#known.add(note);
    await workspace.turned(
      {
        notes: this.#told,
        hasCodeRun: ran.length > 0,
        printed: printedIn(items),
        containerId: ran.at(-1)?.containerId ?? null,
      },
      signal,
    );
    this.#opening = null;
    return workspace.takeUsage();
  }

  async end(): Promise<void> {
    this.#hold?.[Symbol.dispose]();
    await this.#own?.cleanup();
    await this.#held.end();
  }

  #became(containerId: string | null): void {
    this.#containerId = containerId;
    this.#held.seeWorkspace(containerId);
  }

  #untold(notes: readonly string[]): readonly string[] {
    return notes.filter((note) => !this.#known.has(note));
  }

  #mount(container: AutoContainerConfig, name: string): ContainerWorkspace {
    const field = `Hosted tool "${name}" config.container`;
    const { hostMounts = [], allowedHostRoots, memoryLimit = "1g", networkPolicy } = container;
    if (allowedHostRoots === undefined) {
      throw new InvalidOptionError({
        field: `${field}.allowedHostRoots`,
        value: allowedHostRoots,
        rule: "must be given with hostMounts, for these files leave this machine",
        remedy: 'list the folders that they may come from, or write "any"',
      });
    }
    const plan = planMounts(hostMounts, { allowedHostRoots });
    const archive = archiveName();
    this.#opening = workspaceText(plan, "bootstrap", archive).replaceAll("$$", "$");
    const settings = containerSettings({ memoryLimit, networkPolicy }, field, container.fileIds);
    const rest = { unpack: "bootstrap", syncPolicy: "never", syncDestination: null } as const;
    return new ContainerWorkspace(
      { ...rest, plan, settings, name: "weakincentives", deleteOnCleanup: false, client: null },
      archive,
    );
  }

  /** What fails here fails the evaluation; what was throttled has been waited for already. */
  async #failing<Result>(
    promptName: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw failed(error, promptName);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function failed(cause: unknown, promptName: string): PromptEvaluationError {
  return new PromptEvaluationError(messageOf(cause), { promptName, phase: "request", cause });
}

function containerIn({ config }: HostedTool): CodeInterpreterConfig["container"] {
  return (config as CodeInterpreterConfig).container;
}

function namedIn(tool: HostedTool): readonly string[] {
  const own = containerIn(tool);
  const environment = environmentIn(tool);
  if (own && "id" in own) return [own.id];
  const isNamed = environment && "containerId" in environment && environment.containerId;
  return isNamed ? [isNamed] : [];
}

function runsCode(tool: HostedTool): boolean {
  return tool.kind === "code_interpreter" || (tool.kind === "shell" && !runsHere(tool));
}

function runsHere(tool: HostedTool): boolean {
  return environmentIn(tool)?.type === "local";
}

function environmentIn({ config }: HostedTool): ShellConfig["environment"] {
  return (config as ShellConfig).environment;
}

function checkOneWorkspace({ template }: Prompt): void {
  const all = template.outline.filter(
    ({ section }) => section instanceof OpenAIContainerWorkspaceSection,
  );
  if (all.length < 2) return;
  throw new InvalidOptionError({
    field: "The prompt's container workspaces",
    value: all.map(({ path }) => path),
    rule: "must be at most one, for code runs in one container",
    remedy: "put all mounts into one section",
  });
}

function noInterpreter(): InvalidOptionError {
  return new InvalidOptionError({
    field: "The prompt's container workspace",
    value: "no code interpreter",
    rule: "must have a code interpreter or a hosted shell beside it, by which the model uses it",
    remedy: "give the adapter hostedTools: { codeInterpreter: true }, or a section the tool",
  });
}

/** What has a container of its own does not see the workspace's files. */
function checkNoOtherContainer(tool: HostedTool): void {
  const isShell = tool.kind === "shell" && !runsHere(tool);
  const option = isShell ? "environment" : "container";
  const own = isShell ? environmentIn(tool) : containerIn(tool);
  if (!runsCode(tool) || own === undefined) return;
  throw new InvalidOptionError({
    field: `Hosted tool "${tool.name}" config.${option}`,
    value: "a container of its own",
    rule: "must be left out beside a container workspace, whose container it runs in",
    remedy: `leave ${option} out, or the workspace`,
  });
}
