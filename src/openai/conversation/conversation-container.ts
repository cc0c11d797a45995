import type { AdapterEvent } from "../../adapter/events.ts";
import type { Omission, Turn } from "../../adapter/model-client.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import { readRecord, readStringOrNull } from "../../base/json.ts";
import { noUsage, type TokenUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { CodecEnv } from "../codecs/codec.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { isContainerRejection } from "../errors/rejection.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { isContainerGone } from "../http/container-calls.ts";
import { checkWorkspaceTools, findContainerTools } from "../request/tool-support.ts";
import type { WireItem, WireTool } from "../wire.ts";
import type { ContainerWorkspace } from "../workspace/container-workspace.ts";
import { createMountWorkspace } from "../workspace/mount-workspace.ts";
import { collectPrintedOutput } from "../workspace/run-python.ts";
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

/** The container that the adapter creates for a conversation's code, from a workspace or from mounts. */
export class ConversationContainer {
  readonly #settings: ConversationSettings;
  readonly #workspaces: readonly PromptWorkspace[];
  readonly #publish: (event: AdapterEvent) => void;
  #workspace: ContainerWorkspace | null;
  /** Created from a tool's `hostMounts`, only for this conversation. */
  #ownWorkspace: ContainerWorkspace | null = null;
  #keepAliveHold: Disposable | null = null;
  /** Tracks containers that retain data in `zdrMode`; `null` in other modes. */
  readonly #retained: RetainedContainers | null;
  /** The ids of containers that the caller created and tools refer to. */
  readonly #callerContainers = new Set<string>();
  /** Describes mounted files to the model, until it has been sent. */
  #introduction: string | null = null;
  #containerId: string | null = null;
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
    const workspace = this.#workspace;
    if (!workspace) return { model, containerId: null };
    const { memoryLimit, networkPolicy } = workspace.containerSettings;
    const auto = { memoryLimit, ...(networkPolicy && { networkPolicy }) };
    return { model, containerId: this.#containerId, auto };
  }

  /** The ids of the adapter's containers that no longer exist. */
  get lostContainers(): ReadonlySet<string> {
    return this.#workspace?.container.gone ?? NO_CONTAINERS;
  }

  /** Checks the prompt's tools before the first request. `forbidden` are those that the caller does not allow. */
  checkTools({ hostedTools }: RenderedPrompt, forbidden: readonly Omission[]): void {
    const { codecs, clock } = this.#settings;
    const used = findContainerTools(hostedTools, codecs);
    for (const { container } of used)
      if (container.id !== null) this.#callerContainers.add(container.id);
    if (this.#workspaces.length > 0) {
      const paths = this.#workspaces.map(({ path }) => path);
      const tools = forbidden.map(({ tool }) => tool);
      checkWorkspaceTools(paths, used, findContainerTools(tools, codecs));
      return;
    }
    const mounting = used.find(({ container }) => container.mounted !== null);
    if (!mounting?.container.mounted || this.#ownWorkspace) return;
    const mounts = createMountWorkspace(mounting.container.mounted, mounting.tool.name);
    this.#introduction = mounts.text;
    this.#ownWorkspace = mounts.workspace;
    this.#keepAliveHold = this.#ownWorkspace.hold(clock);
    this.#workspace = this.#ownWorkspace;
  }

  /** Prepares the container. Returns the notes that the model must read before it continues. */
  async prepare(promptName: string, signal: AbortSignal): Promise<readonly string[]> {
    const workspace = this.#workspace;
    if (!workspace) return [];
    const { zdrMode: isTransient } = this.#settings.compaction;
    workspace.bind(this.#settings, { publish: this.#publish, isTransient });
    return await wrapRequestErrors(promptName, signal, async () => {
      const { containerId, notes, standingNotes } = await workspace.prepare(signal);
      this.#setContainer(containerId);
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
  ): Promise<{ readonly containerId: string; readonly notes: readonly string[] } | null> {
    const workspace = this.#workspace;
    const id = this.#containerId;
    if (!workspace || id === null || !isContainerGone(error)) return null;
    return await wrapRequestErrors(promptName, signal, async () => {
      // The error may be about another container, in which earlier calls ran.
      const { container } = workspace;
      if (isContainerRejection(error) && (await container.isAlive(id, signal))) return null;
      await container.replace(id, error, signal);
      const before = new Set(this.#pendingNotes);
      const { containerId, notes, standingNotes } = await workspace.prepare(signal);
      this.#setContainer(containerId);
      const all = [...this.#filterUnsent(standingNotes), ...notes];
      const unsent = all.filter((note) => !before.has(note));
      this.#pendingNotes = [...this.#pendingNotes, ...unsent];
      return { containerId: id, notes: unsent };
    });
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
    return workspace.takeUsage();
  }

  /** Removes the files and containers that were created only for this conversation. */
  async close(): Promise<void> {
    this.#keepAliveHold?.[Symbol.dispose]();
    await this.#ownWorkspace?.cleanup();
    await this.#retained?.removeAll();
  }

  #setContainer(containerId: string | null): void {
    this.#containerId = containerId;
    this.#retained?.recordWorkspaceContainer(containerId);
  }

  #filterUnsent(notes: readonly string[]): readonly string[] {
    return notes.filter((note) => !this.#sentNotes.has(note));
  }

  /** Logs the container that code ran in and its memory limit, to help explain failures. */
  #logRun(
    { name, kind, callId, containerId }: Turn["hostedCalls"][number],
    tools: readonly WireTool[] = [],
  ): void {
    const tool: WireItem = { ...tools.find(({ type }) => type === kind) };
    const container = { ...readRecord(tool, "environment"), ...readRecord(tool, "container") };
    const memoryLimit = readStringOrNull(container, "memory_limit");
    this.#settings.logger.info("hosted code ran", { name, callId, containerId, memoryLimit });
  }
}

const NO_CONTAINERS: ReadonlySet<string> = new Set();

/**
 * Runs `work` and wraps its error as a failure of the request. A `ThrottleError` is not wrapped: its
 * attempts are used up, so the evaluation does not repeat it.
 */
async function wrapRequestErrors<Result>(
  promptName: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ThrottleError ? error : createRequestFailure(error, promptName);
  }
}

function createRequestFailure(cause: unknown, promptName: string): PromptEvaluationError {
  return new PromptEvaluationError(getErrorMessage(cause), { promptName, phase: "request", cause });
}
