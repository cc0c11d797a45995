import type { AdapterEvent } from "../../adapter/events.ts";
import type { FinishedConversation, Omission, Turn } from "../../adapter/model-client.ts";
import { findProgressListener } from "../../adapter/progress-listener.ts";
import { maxThrottleWaitMs } from "../../adapter/throttle.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { type WorkspaceManifest, workspaceSlice } from "../../prompt/sections/workspace-slice.ts";
import type { CodecEnv } from "../codecs/codec.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { getContainerId } from "../history/history-repairs.ts";
import { isContainerGone } from "../http/container-calls.ts";
import { findNamedContainers, readMemoryLimit } from "../request/request.ts";
import { checkWorkspaceTools, findContainerTools } from "../request/tool-support.ts";
import type { WireItem, WireTool } from "../wire.ts";
import type { ContainerWorkspace } from "../workspace/container-workspace.ts";
import { createMountWorkspace } from "../workspace/mount-workspace.ts";
import { collectPrintedOutput } from "../workspace/run-python.ts";
import type { WorkspaceLoader } from "../workspace/workspace-loader.ts";
import { checkContainers } from "./check-containers.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import { RetainedContainers } from "./retained-containers.ts";

/** A workspace in the prompt and the path of its section. A prompt may have one at most. */
export interface PromptWorkspace {
  readonly path: string;
  readonly workspace: ContainerWorkspace;
}

/** The result of one answered request. */
export interface AnsweredTurn {
  readonly turn: Turn;
  readonly items: readonly WireItem[];
  /** The tools of the request. */
  readonly tools: readonly WireTool[] | undefined;
}

/** A container that was replaced by another. */
export interface ReplacedContainer {
  /** The id of the container that is not used any more. */
  readonly containerId: string;
  /** New notes for the model. */
  readonly notes: readonly string[];
}

/** The container that the adapter creates for a conversation's code, from a workspace or from mounts. */
export class ConversationContainer {
  readonly #settings: ConversationSettings;
  readonly #workspaces: readonly PromptWorkspace[];
  readonly #publish: (event: AdapterEvent) => void;
  #workspace: ContainerWorkspace | null;
  /** A tool's `hostMounts`, only for this conversation. The first request creates a workspace from them. */
  #mounts: WorkspaceLoader | null = null;
  /** The containers in which this evaluation's calls ran in another process, if it is resumed. */
  #earlierContainers: readonly string[] | null = null;
  #keepAliveHold: Disposable | null = null;
  /** Tracks containers that retain data in `zdrMode`; `null` in other modes. */
  readonly #retained: RetainedContainers | null;
  /** The ids of containers that the caller created and tools refer to. */
  #callerContainers: ReadonlySet<string> = NO_CONTAINERS;
  #hasRemovedLeftovers = false;
  #hasCheckedNamed = false;
  /** Describes mounted files to the model, until it has been sent. */
  #introduction: string | null = null;
  #containerId: string | null = null;
  /** Containers that were created, or used by the workspace's own requests, since the last answer. */
  #billed: readonly string[] | undefined;
  /** Notes for the model in the current request. */
  #pendingNotes: readonly string[] = [];
  /** Notes that the model has received with answered requests. */
  readonly #sentNotes = new Set<string>();

  constructor(
    settings: ConversationSettings,
    workspaces: readonly PromptWorkspace[],
    publish: (event: AdapterEvent) => void,
  ) {
    this.#settings = settings;
    this.#workspaces = workspaces;
    this.#publish = publish;
    this.#workspace = workspaces[0]?.workspace ?? null;
    this.#retained = settings.compaction.zdrMode ? new RetainedContainers(settings, publish) : null;
  }

  /** The environment that codecs serialize tools for. */
  get env(): CodecEnv {
    const { model } = this.#settings;
    const files = this.#workspace ?? this.#mounts;
    if (!files) return { model, containerId: null };
    const { memoryLimit, networkPolicy } = files.containerSettings;
    const auto = { memoryLimit, ...(networkPolicy && { networkPolicy }) };
    return { model, containerId: this.#containerId, auto };
  }

  /** Whether there is no container to prepare, keep or remove, now and at the end. */
  get isIdle(): boolean {
    return this.#workspace === null && this.#mounts === null && this.#retained === null;
  }

  /** The ids of the adapter's containers that no longer exist. */
  get lostContainers(): ReadonlySet<string> {
    return this.#workspace?.container.gone ?? NO_CONTAINERS;
  }

  /** Checks the prompt's tools before the first request. `forbidden` are those that the caller does not allow. */
  checkTools({ hostedTools }: RenderedPrompt, forbidden: readonly Omission[]): void {
    const { codecs, clock } = this.#settings;
    const used = findContainerTools(hostedTools, codecs);
    const ids = used.map(({ container }) => container.id).filter((id) => id !== null);
    if (ids.length > 0) this.#callerContainers = new Set([...this.#callerContainers, ...ids]);
    if (this.#workspaces.length > 0) {
      const paths = this.#workspaces.map(({ path }) => path);
      const tools = forbidden.map(({ tool }) => tool);
      checkWorkspaceTools(paths, used, findContainerTools(tools, codecs));
      return;
    }
    const mounting = used.find(({ container }) => container.mounted !== null);
    if (!mounting?.container.mounted || this.#mounts) return;
    const mounts = createMountWorkspace(mounting.container.mounted, mounting.tool.name);
    this.#introduction = mounts.text;
    this.#mounts = mounts.files;
    this.#keepAliveHold = mounts.files.hold(clock);
  }

  /** Checks once that the containers whose ids the caller passed exist, before a request that uses them fails. */
  async checkNamed(
    tools: readonly WireTool[],
    promptName: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, checkContainers: isWanted } = this.#settings;
    if (this.#hasCheckedNamed || !isWanted) return;
    const ids = [...findNamedContainers(tools)].filter((id) => id !== this.#containerId);
    if (ids.length > 0) await checkContainers(ids, client, { promptName, signal });
    this.#hasCheckedNamed = true;
  }

  /**
   * Called after `checkTools` if the evaluation is resumed. The model has read the notes in `history`. The files of
   * a tool's mounts are not kept: a new container replaces those in which this evaluation's `calls` ran.
   */
  onResumed(history: readonly WireItem[], calls: readonly WireItem[]): void {
    if (this.#workspace) this.#bind(this.#workspace); // calls may use the files before the next request
    this.#workspace?.onResumed();
    this.#introduction = null;
    for (const { role, content } of history)
      if (role === "developer" && typeof content === "string") this.#sentNotes.add(content);
    const ids = calls.map(getContainerId).filter((id) => id !== null);
    this.#earlierContainers = ids.reverse().filter((id) => !this.#callerContainers.has(id));
  }

  /**
   * Prepares the container. Returns the notes that the model must read before it continues. `isSubmitted`: another
   * process has sent the request, so that code may be running in its container.
   */
  async prepare(
    promptName: string,
    { signal, isSubmitted }: { readonly signal: AbortSignal; readonly isSubmitted: boolean },
  ): Promise<readonly string[]> {
    if (this.#mounts && !this.#workspace) await this.#openMounts(this.#mounts);
    const workspace = this.#workspace;
    if (!workspace) {
      await this.#removeLeftovers();
      return [];
    }
    this.#bind(workspace);
    return await this.#runForRequest(promptName, signal, async () => {
      const before = workspace.containerId;
      const prepared = await workspace.prepare(signal, { isSubmitted });
      const { containerId, notes, standingNotes } = prepared;
      this.#setContainer(containerId, before);
      await this.#removeLeftovers();
      const opening = this.#introduction === null ? [] : [this.#introduction];
      this.#pendingNotes = [...opening, ...this.#filterUnsent(standingNotes), ...notes];
      return this.#pendingNotes;
    });
  }

  /**
   * Replaces a lost container. Returns the lost id and new notes for the model, or `null` if the error
   * has another cause.
   */
  async replace(
    error: OpenAIRequestError,
    promptName: string,
    signal: AbortSignal,
  ): Promise<ReplacedContainer | null> {
    const workspace = this.#workspace;
    const id = this.#containerId;
    if (!workspace || id === null || !isContainerGone(error)) return null;
    return await this.#runForRequest(promptName, signal, async () => {
      // The error may be about another container, in which earlier calls ran.
      const isAlive =
        isContainerRejection(error) && (await workspace.container.isAlive(id, signal));
      return isAlive ? null : await this.#fillAnother(workspace, { id, error, signal });
    });
  }

  /**
   * Replaces a container in which a request of another process may have run code, because the request is sent again.
   * Returns `null` if there is none.
   */
  async replaceUncertain(
    promptName: string,
    signal: AbortSignal,
  ): Promise<ReplacedContainer | null> {
    const workspace = this.#workspace;
    const id = this.#containerId;
    if (!workspace?.isUncertain || id === null) return null;
    const error = new Error("The provider no longer has the response whose code used it.");
    return await this.#runForRequest(promptName, signal, () =>
      this.#fillAnother(workspace, { id, error, signal }),
    );
  }

  /** Returns the error for a request that finally failed because the container was lost, or `null`. */
  explainLoss(error: OpenAIRequestError, promptName: string): PromptEvaluationError | null {
    const id = this.#containerId;
    if (!this.#workspace || id === null || !isContainerGone(error)) return null;
    this.#workspace.container.lose(id, error);
    const remedy =
      "try again: the container before it was lost too, and everything written is kept";
    return createRequestFailure(new ContainerExpiredError(id, error, remedy), promptName);
  }

  /** Called when a request fails; code may have run before it did. */
  onRequestFailed(): void {
    this.#workspace?.onRequestFailed();
  }

  /** Called after a successful request. Returns the token usage of the workspace's own requests. */
  async afterTurn(answered: AnsweredTurn, signal: AbortSignal): Promise<TokenUsage> {
    const { turn, items } = answered;
    const ran = turn.hostedCalls.filter(({ containerId }) => containerId !== undefined);
    for (const call of ran) this.#logRun(call, answered.tools);
    const ids = ran.map(({ containerId }) => containerId).filter((id) => id !== undefined);
    this.#settings.egress.onContainersUsed(ids);
    const workspace = this.#workspace;
    if (!workspace) {
      this.#retained?.record(turn, this.#callerContainers);
      return noUsage;
    }
    for (const { containerId = null } of ran) this.#retained?.recordWorkspaceContainer(containerId);
    for (const note of this.#pendingNotes) this.#sentNotes.add(note);
    await workspace.afterTurn(
      {
        notes: this.#pendingNotes,
        hasCodeRun: ran.length > 0,
        printed: ran.length > 0 ? collectPrintedOutput(items) : "",
        containerId: ran.at(-1)?.containerId ?? null,
      },
      signal,
    );
    this.#introduction = null;
    return this.#takeUsage(workspace);
  }

  /** Returns the containers to pay for since the last call, besides those of hosted calls. */
  takeBilled(): readonly string[] | undefined {
    const ids = this.#billed;
    this.#billed = undefined;
    return ids;
  }

  /** Returns the memory limit of a turn's containers; `undefined` if it is unknown. */
  findMemoryLimit({ hostedCalls }: Turn, tools: readonly WireTool[] = []): string | undefined {
    const kind = hostedCalls.find(({ containerId }) => containerId !== undefined)?.kind;
    if (kind === undefined && !this.#billed) return undefined;
    const { memoryLimit } = (this.#workspace ?? this.#mounts)?.containerSettings ?? {};
    return memoryLimit ?? readMemoryLimit(tools, kind ?? "") ?? undefined;
  }

  /** Keeps the files for other processes. Returns what the session must record, or `null`. */
  async keepFiles(): Promise<WorkspaceManifest | null> {
    return (await this.#workspace?.keep()) ?? null;
  }

  /**
   * Downloads the files before the answer is returned, if the workspace syncs them. Returns what the session must
   * record, and the token usage.
   */
  async finish(signal: AbortSignal): Promise<FinishedConversation> {
    const workspace = this.#workspace;
    if (!workspace) return { usage: noUsage };
    await workspace.beforeAnswer(signal);
    const manifest = await workspace.keep();
    const usage = this.#takeUsage(workspace);
    const { memoryLimit: containerTier } = workspace.containerSettings;
    const used = { usage, containerIds: this.takeBilled(), containerTier };
    return manifest ? { ...used, workspace: manifest } : used;
  }

  /** Removes the files and containers that were created only for this conversation. */
  async close(): Promise<void> {
    this.#keepAliveHold?.[Symbol.dispose]();
    await this.#mounts?.cleanup();
    if (!this.#workspace) await this.#removeLeftovers(); // a stored answer needs no request before
    await this.#retained?.removeAll();
  }

  async #openMounts(mounts: WorkspaceLoader): Promise<void> {
    const workspace = await mounts.load();
    this.#workspace = workspace;
    if (this.#earlierContainers === null) return;
    this.#bind(workspace);
    workspace.onResumed();
    for (const id of this.#earlierContainers) workspace.loseEarlier(id);
  }

  /** Lets the workspace use this conversation's client and events. */
  #bind(workspace: ContainerWorkspace): void {
    const { zdrMode: isTransient } = this.#settings.compaction;
    const publisher = { ...this.#settings, adapterName: "openai" };
    const findListener = () => findProgressListener(publisher);
    const retained = this.#retained;
    workspace.bind(this.#settings, {
      ...{ publish: this.#publish, isTransient, findListener },
      onCreated: retained ? (id) => this.#recordCreated(id) : undefined,
      onDeleted: retained ? (id) => retained.onDeleted(id) : undefined,
      onReleased: retained ? () => retained.removeLeftovers(null) : undefined,
    });
  }

  /** Stores that a container exists before it gets any data, so that another process can find it. */
  async #recordCreated(containerId: string): Promise<void> {
    const { session } = this.#settings;
    if (session.isStored) session.register(workspaceSlice);
    this.#retained?.recordWorkspaceContainer(containerId);
    await session.flush();
  }

  /** Removes the containers that other processes left, once. */
  async #removeLeftovers(): Promise<void> {
    if (this.#hasRemovedLeftovers) return;
    this.#hasRemovedLeftovers = true;
    await this.#retained?.removeLeftovers(this.#containerId);
  }

  async #fillAnother(
    workspace: ContainerWorkspace,
    { id, error, signal }: { id: string; error: Error; signal: AbortSignal },
  ): Promise<ReplacedContainer> {
    await workspace.container.replace(id, error, signal);
    const before = new Set(this.#pendingNotes);
    const { containerId, notes, standingNotes } = await workspace.prepare(signal);
    this.#setContainer(containerId, id);
    const all = [...this.#filterUnsent(standingNotes), ...notes];
    const unsent = all.filter((note) => !before.has(note));
    this.#pendingNotes = [...this.#pendingNotes, ...unsent];
    return { containerId: id, notes: unsent };
  }

  /**
   * Runs `work` and wraps its error as a failure of the request. A `ThrottleError` is not wrapped: its
   * attempts are used up, so the evaluation does not repeat it.
   */
  async #runForRequest<Result>(
    promptName: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { [maxThrottleWaitMs]: limit } = this.#settings;
    try {
      return await (this.#workspace ? this.#workspace.limitWaits(limit, work) : work());
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ThrottleError ? error : createRequestFailure(error, promptName);
    }
  }

  #setContainer(containerId: string | null, before: string | null): void {
    this.#containerId = containerId;
    if (containerId !== before) this.#bill(containerId);
    this.#retained?.recordWorkspaceContainer(containerId);
  }

  #bill(id: string | null): void {
    if (id !== null && !this.#billed?.includes(id)) this.#billed = [...(this.#billed ?? []), id];
  }

  /** Returns the token usage of the workspace's own requests since the last call. Their container is paid for. */
  #takeUsage(workspace: ContainerWorkspace): TokenUsage {
    const usage = workspace.takeUsage();
    if (usage.totalTokens > 0) this.#bill(workspace.containerId);
    return usage;
  }

  #filterUnsent(notes: readonly string[]): readonly string[] {
    return notes.filter((note) => !this.#sentNotes.has(note));
  }

  /** Logs the container that code ran in and its memory limit, to help explain failures. */
  #logRun(
    { name, kind, callId, containerId }: Turn["hostedCalls"][number],
    tools: readonly WireTool[] = [],
  ): void {
    const memoryLimit = readMemoryLimit(tools, kind);
    this.#settings.logger.info("hosted code ran", { name, callId, containerId, memoryLimit });
  }
}

const NO_CONTAINERS: ReadonlySet<string> = new Set();

function createRequestFailure(cause: unknown, promptName: string): PromptEvaluationError {
  return new PromptEvaluationError(getErrorMessage(cause), { promptName, phase: "request", cause });
}
