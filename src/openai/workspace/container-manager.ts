import { type Clock, systemClock } from "../../base/clock.ts";
import { checkOptions } from "../../base/names.ts";
import { checkText } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { type ContainerConfig, containerSettings } from "./container-config.ts";
import { ContainerLifecycle, type ContainerState } from "./container-lifecycle.ts";
import { WorkspaceConnection } from "./workspace-connection.ts";

/** The options of a `ContainerManager`. */
export interface ContainerManagerOptions {
  readonly client: OpenAIClient;
  readonly config?: ContainerConfig | undefined;
  /** The container's name at the provider. @default "weakincentives" */
  readonly name?: string | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * One empty container, made when it is first needed, and made again, at most once per operation,
 * when it has died.
 */
export class ContainerManager {
  readonly #container: ContainerLifecycle;

  constructor(options: ContainerManagerOptions) {
    const {
      client,
      config,
      name = "weakincentives",
      clock = systemClock,
    } = checkOptions(options, "ContainerManager");
    checkText(name, "ContainerManager.name");
    const settings = containerSettings(config, "ContainerManager.config");
    const connection = new WorkspaceConnection(client, clock);
    this.#container = new ContainerLifecycle({ connection, settings, name });
  }

  /** `null` while there is no container. */
  get containerId(): string | null {
    return this.#container.containerId;
  }

  /** What the manager is doing, or what has happened to its container. */
  get state(): ContainerState {
    return this.#container.state;
  }

  /** The ids of the containers that have died. */
  get gone(): ReadonlySet<string> {
    return this.#container.gone;
  }

  /** Makes the container if there is none, once for all who wait for it. Returns its id. */
  async ensure(options?: { readonly signal?: AbortSignal | undefined }): Promise<string> {
    return await this.#container.ensure(options);
  }

  /**
   * Does something in the container, and once more in a new one if it turns out to be dead.
   * Throws `ContainerExpiredError` when that does not help either.
   */
  async use<Result>(
    operation: (id: string) => Promise<Result>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Result> {
    return await this.#container.use(operation, options);
  }

  /** Says that the container has died; the next use makes another. Other ids are ignored. */
  lose(id: string, error: unknown): void {
    this.#container.lose(id, error);
  }

  /** Takes over a container that the provider made. */
  adopt(id: string): void {
    this.#container.adopt(id);
  }

  /** Gives the container up. The provider removes it when it expires, or now with `remove`. */
  async release(options?: { readonly remove?: boolean }): Promise<void> {
    await this.#container.release(options);
  }
}
