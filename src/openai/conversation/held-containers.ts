import type { Announcement } from "../../adapter/events.ts";
import type { Turn } from "../../adapter/model-client.ts";
import { messageOf } from "../../base/errors.ts";
import { ContainerCalls } from "../http/container-calls.ts";
import { withRetries } from "../http/retry.ts";
import type { ConversationSettings } from "./conversation-settings.ts";

/**
 * The containers that hosted code ran in, where the provider is to keep nothing: the one thing that
 * holds data all the same. Each is announced, and removed when the evaluation is over.
 */
export class HeldContainers {
  readonly #settings: ConversationSettings;
  readonly #announce: (event: Announcement) => void;
  readonly #seen = new Set<string>();
  /** Removed by us; a workspace's is, with the workspace. */
  readonly #ours = new Set<string>();

  constructor(settings: ConversationSettings, announce: (event: Announcement) => void) {
    this.#settings = settings;
    this.#announce = announce;
  }

  /** A workspace's container, which has its files in it and goes with the workspace. */
  seeWorkspace(containerId: string | null): void {
    if (containerId !== null) this.#see(containerId, "the workspace is cleaned up");
  }

  /** What hosted code ran in; `named`: the containers that the caller has made, who removes them. */
  see({ hostedCalls }: Turn, named: ReadonlySet<string>): void {
    for (const { containerId } of hostedCalls) {
      if (containerId === undefined) continue;
      const isNamed = named.has(containerId);
      const isNew = this.#see(containerId, isNamed ? "you remove it" : "the evaluation is over");
      if (isNew && !isNamed) this.#ours.add(containerId);
    }
  }

  async end(): Promise<void> {
    const { client, logger } = this.#settings;
    const calls = new ContainerCalls(client);
    const { signal } = new AbortController(); // data is removed whatever has ended the evaluation
    for (const id of this.#ours) {
      try {
        await withRetries(() => calls.remove(id, { signal }), this.#settings, signal);
      } catch (error) {
        const problem = messageOf(error);
        logger.error("a container that holds data could not be removed", { id, problem });
      }
    }
  }

  /** Whether it was not known before. */
  #see(containerId: string, until: string): boolean {
    if (this.#seen.has(containerId)) return false;
    this.#seen.add(containerId);
    this.#announce({ type: "DataHeld", containerId, until });
    return true;
  }
}
