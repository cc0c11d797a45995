import type { Announcement } from "../../adapter/events.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { InvalidOptionError, messageOf } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { maybeTextAt, recordAt } from "../../base/reading.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { AutoContainerConfig } from "../../tools/hosted/code-interpreter.ts";
import type { CodecEnv } from "../codecs/codec.ts";
import { complaintAboutContainer } from "../errors/complaint.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { isContainerGone } from "../http/container-calls.ts";
import { checkWorkspaceTools, codeContainers } from "../request/hosted-tool-gate.ts";
import type { WireItem, WireTool } from "../wire.ts";
import { containerSettings } from "../workspace/container-config.ts";
import { archiveName, ContainerWorkspace } from "../workspace/container-workspace.ts";
import { printedIn } from "../workspace/python-runner.ts";
import { workspaceText } from "../workspace/workspace-text.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import { HeldContainers } from "./held-containers.ts";

/** A workspace of the prompt, and the path of its section. More than one is an error. */
export interface PromptWorkspace {
  readonly path: string;
  readonly workspace: ContainerWorkspace;
}

/** What one request came to. */
export interface AnsweredTurn {
  readonly turn: Turn;
  readonly items: readonly WireItem[];
  /** The tools of the request. */
  readonly tools: readonly WireTool[] | undefined;
}

/** The container that a conversation's code runs in, if we make it: a workspace's, or a mount's. */
export class ConversationContainer {
  readonly #settings: ConversationSettings;
  readonly #workspaces: readonly PromptWorkspace[];
  readonly #publish: (event: Announcement) => void;
  #workspace: ContainerWorkspace | null;
  /** Made for this conversation alone, from a tool's `hostMounts`. */
  #own: ContainerWorkspace | null = null;
  #hold: Disposable | null = null;
  /** The containers that hold data although nothing may stay at the provider; else `null`. */
  readonly #held: HeldContainers | null;
  /** The containers that tools name, which the caller has made. */
  readonly #named = new Set<string>();
  #opening: string | null = null;
  #containerId: string | null = null;
  /** What the model reads with the request that is being made. */
  #pendingNotes: readonly string[] = [];
  /** What it has read with requests that were answered. */
  readonly #sentNotes = new Set<string>();

  constructor(
    settings: ConversationSettings,
    workspaces: readonly PromptWorkspace[],
    publish: (event: Announcement) => void,
  ) {
    this.#settings = settings;
    this.#workspaces = workspaces;
    this.#publish = publish;
    this.#workspace = workspaces[0]?.workspace ?? null;
    this.#held = settings.compaction.zdrMode ? new HeldContainers(settings, publish) : null;
  }

  /** What codecs need to know. */
  get env(): CodecEnv {
    const { model } = this.#settings;
    const workspace = this.#workspace;
    if (!workspace) return { model, containerId: null };
    const { memoryLimit, networkPolicy } = workspace.containerSettings;
    const auto = { memoryLimit, ...(networkPolicy && { networkPolicy }) };
    return { model, containerId: this.#containerId, auto };
  }

  /** The containers of ours that have died. */
  get gone(): ReadonlySet<string> {
    return this.#workspace?.container.gone ?? NONE;
  }

  /** Checks the prompt's tools before anything is sent. */
  check({ hostedTools }: RenderedPrompt): void {
    const { codecs, clock } = this.#settings;
    const used = codeContainers(hostedTools, codecs);
    for (const { container } of used) if (container.id !== null) this.#named.add(container.id);
    if (this.#workspaces.length > 0) {
      const paths = this.#workspaces.map(({ path }) => path);
      checkWorkspaceTools(paths, used);
      return;
    }
    const mounting = used.find(({ container }) => container.mounted !== null);
    if (!mounting?.container.mounted || this.#own) return;
    this.#own = this.#mount(mounting.container.mounted, mounting.tool.name);
    this.#hold = this.#own.hold(clock);
    this.#workspace = this.#own;
  }

  /** Makes the container ready. Returns what the model must read before it continues. */
  async prepare(promptName: string, signal: AbortSignal): Promise<readonly string[]> {
    const workspace = this.#workspace;
    if (!workspace) return [];
    const { zdrMode: isTransient } = this.#settings.compaction;
    workspace.bind(this.#settings, { publish: this.#publish, isTransient });
    return await failAsRequest(promptName, signal, async () => {
      const { containerId, notes, standingNotes } = await workspace.prepare(signal);
      this.#use(containerId);
      const opening = this.#opening === null ? [] : [this.#opening];
      this.#pendingNotes = [...opening, ...this.#unsent(standingNotes), ...notes];
      return this.#pendingNotes;
    });
  }

  /** Puts another container in place of a dead one; `null` if the failure is about something else. */
  async replace(
    error: OpenAIRequestError,
    promptName: string,
    signal: AbortSignal,
  ): Promise<{ readonly containerId: string; readonly notes: readonly string[] } | null> {
    const workspace = this.#workspace;
    const id = this.#containerId;
    if (!workspace || id === null || !isContainerGone(error)) return null;
    return await failAsRequest(promptName, signal, async () => {
      // The complaint may be about another container, in which earlier calls ran.
      const { container } = workspace;
      if (complaintAboutContainer(error) && (await container.isAlive(id, signal))) return null;
      await container.replace(id, error, signal);
      const before = new Set(this.#pendingNotes);
      const { containerId, notes, standingNotes } = await workspace.prepare(signal);
      this.#use(containerId);
      const all = [...this.#unsent(standingNotes), ...notes];
      const unsent = all.filter((note) => !before.has(note));
      this.#pendingNotes = [...this.#pendingNotes, ...unsent];
      return { containerId: id, notes: unsent };
    });
  }

  /** The error for a request that failed for good because our container is dead; else `null`. */
  explainLoss(error: OpenAIRequestError, promptName: string): PromptEvaluationError | null {
    const id = this.#containerId;
    if (!this.#workspace || id === null || !isContainerGone(error)) return null;
    this.#workspace.container.lose(id, error);
    const remedy = "so is the one before it; what was written is kept, try again";
    return requestFailure(new ContainerExpiredError(id, error, remedy), promptName);
  }

  /** A request failed, and code may have run in it. */
  interrupted(): void {
    this.#workspace?.interrupted();
  }

  /** A request was answered. Returns what our own requests have cost. */
  async afterTurn(answered: AnsweredTurn, signal: AbortSignal): Promise<TokenUsage> {
    const { turn, items } = answered;
    const ran = turn.hostedCalls.filter(({ containerId }) => containerId !== undefined);
    for (const call of ran) this.#logRun(call, answered.tools);
    const workspace = this.#workspace;
    if (!workspace) {
      this.#held?.see(turn, this.#named);
      return noUsage;
    }
    for (const { containerId = null } of ran) this.#held?.seeWorkspace(containerId);
    for (const note of this.#pendingNotes) this.#sentNotes.add(note);
    await workspace.afterTurn(
      {
        notes: this.#pendingNotes,
        hasCodeRun: ran.length > 0,
        printed: ran.length > 0 ? printedIn(items) : "",
        containerId: ran.at(-1)?.containerId ?? null,
      },
      signal,
    );
    this.#opening = null;
    return workspace.takeUsage();
  }

  /** Removes what was made for this conversation alone. */
  async end(): Promise<void> {
    this.#hold?.[Symbol.dispose]();
    await this.#own?.cleanup();
    await this.#held?.end();
  }

  #use(containerId: string | null): void {
    this.#containerId = containerId;
    this.#held?.seeWorkspace(containerId);
  }

  #unsent(notes: readonly string[]): readonly string[] {
    return notes.filter((note) => !this.#sentNotes.has(note));
  }

  /** A workspace from the `hostMounts` of a tool. */
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
    return new ContainerWorkspace({
      plan,
      settings,
      archive,
      name: "weakincentives",
      unpack: "bootstrap",
      syncPolicy: "never",
      syncDestination: null,
      deleteOnCleanup: false,
      client: null,
    });
  }

  /** In which container, and of which size, code ran: needed to understand why it failed. */
  #logRun(
    { name, kind, callId, containerId }: Turn["hostedCalls"][number],
    tools: readonly WireTool[] = [],
  ): void {
    const tool: WireItem = { ...tools.find(({ type }) => type === kind) };
    const place = { ...recordAt(tool, "environment"), ...recordAt(tool, "container") };
    const memoryLimit = maybeTextAt(place, "memory_limit");
    this.#settings.logger.info("hosted code ran", { name, callId, containerId, memoryLimit });
  }
}

const NONE: ReadonlySet<string> = new Set();

/** What fails here fails the evaluation's request; throttled requests have been retried already. */
async function failAsRequest<Result>(
  promptName: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw requestFailure(error, promptName);
  }
}

function requestFailure(cause: unknown, promptName: string): PromptEvaluationError {
  return new PromptEvaluationError(messageOf(cause), { promptName, phase: "request", cause });
}
