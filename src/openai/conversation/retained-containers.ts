import type { AdapterEvent } from "../../adapter/events.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { maxThrottleWaitMs } from "../../adapter/throttle.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { workspaceSlice } from "../../prompt/sections/workspace-slice.ts";
import type { Session } from "../../session/session.ts";
import { ContainerCalls } from "../http/container-calls.ts";
import { withRetries } from "../http/retry.ts";
import type { ConversationSettings } from "./conversation-settings.ts";

/**
 * Tracks the containers that hosted code ran in with zero data retention: they still retain data.
 * Each is published as a `DataHeld` event, and removed at the end of the evaluation.
 */
export class RetainedContainers {
  readonly #settings: ConversationSettings;
  readonly #publish: (event: AdapterEvent) => void;
  readonly #published = new Set<string>();
  /** The ids to remove at the end. A workspace removes its own container. */
  readonly #toRemove = new Set<string>();

  constructor(settings: ConversationSettings, announce: (event: AdapterEvent) => void) {
    this.#settings = settings;
    this.#publish = announce;
  }

  /** Records a workspace's container, which is removed with the workspace. */
  recordWorkspaceContainer(containerId: string | null): void {
    if (containerId !== null) this.#publishOnce(containerId, "the workspace is cleaned up");
  }

  /** Records the containers of a turn's hosted calls. The caller removes those in `callerContainers`. */
  record({ hostedCalls }: Turn, callerContainers: ReadonlySet<string>): void {
    for (const { containerId } of hostedCalls) {
      if (containerId === undefined) continue;
      const isCallers = callerContainers.has(containerId);
      const until = isCallers ? "you remove it" : "the evaluation ends";
      const isNew = this.#publishOnce(containerId, until, isCallers);
      if (isNew && !isCallers) this.#toRemove.add(containerId);
    }
  }

  /** Called when a recorded container was deleted. */
  onDeleted(containerId: string): void {
    this.#publish({ type: "DataReleased", containerId });
  }

  /** Removes the recorded containers. A failure is logged, not thrown. */
  async removeAll(): Promise<void> {
    await this.#remove(this.#toRemove);
  }

  /**
   * Removes the containers that other processes have left on the session, except `inUse`. A failure is logged, not
   * thrown.
   */
  async removeLeftovers(inUse: string | null): Promise<void> {
    const { session } = this.#settings;
    if (!session.isStored) return;
    session.register(workspaceSlice);
    const recorded = getRecorded(session);
    if (inUse !== null) recorded.add(inUse);
    const { heldContainers } = session.get(workspaceSlice);
    await this.#remove(heldContainers.filter((id) => !recorded.has(id)));
  }

  async #remove(ids: Iterable<string>): Promise<void> {
    const { client, logger } = this.#settings;
    const calls = new ContainerCalls(client);
    const { signal } = new AbortController(); // removes data even after an abort
    const retry = { ...this.#settings, [maxThrottleWaitMs]: undefined }; // and after any wait
    for (const id of ids) {
      try {
        await withRetries(() => calls.remove(id, { signal }), retry, signal);
        this.onDeleted(id);
      } catch (error) {
        const problem = getErrorMessage(error);
        logger.error("could not remove a container that retains data", { id, problem });
      }
    }
  }

  /** Publishes a container once. Returns whether it was new. */
  #publishOnce(containerId: string, until: string, isCallers = false): boolean {
    if (this.#published.has(containerId)) return false;
    this.#published.add(containerId);
    getRecorded(this.#settings.session).add(containerId);
    const event = { type: "DataHeld", containerId, until } as const;
    this.#publish(isCallers ? { ...event, isCallers } : event);
    return true;
  }
}

/**
 * The containers that were recorded for each session since it was opened. The others that a session lists were left by
 * other processes, or by this one before it opened the session again.
 */
const recordedContainers = new WeakMap<Session, Set<string>>();

function getRecorded(session: Session): Set<string> {
  const recorded = recordedContainers.get(session) ?? new Set();
  recordedContainers.set(session, recorded);
  return recorded;
}
