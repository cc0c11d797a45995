import { type Clock, systemClock } from "../../base/clock.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import { checkSingleLine } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { type ContainerConfig, resolveContainerSettings } from "./container-config.ts";
import { ContainerLifecycle, type ContainerState } from "./container-lifecycle.ts";
import { WorkspaceConnection } from "./workspace-connection.ts";

/** The options of a `ContainerManager`. */
export interface ContainerManagerOptions {
  /** The client that creates the container. */
  readonly client: OpenAIClient;
  /** Configures the container. @default the defaults of `ContainerConfig` */
  readonly config?: ContainerConfig | undefined;
  /** The container's name at the provider. @default "weakincentives" */
  readonly name?: string | undefined;
  /** The clock that times retries. @default the system clock */
  readonly clock?: Clock | undefined;
}

const managerKeys: KnownKeys<ContainerManagerOptions> = {
  client: true,
  clock: true,
  config: true,
  name: true,
};

/**
 * Manages one empty container. It is created on first use, and created again when it is lost, at most
 * once per operation.
 */
export class ContainerManager {
  readonly #container: ContainerLifecycle;

  constructor(options: ContainerManagerOptions) {
    checkKnownKeys(options, "ContainerManager", managerKeys, PromptValidationError);
    const { client, config, name = "weakincentives", clock = systemClock } = options;
    checkSingleLine(name, "ContainerManager.name");
    const settings = resolveContainerSettings(config, "ContainerManager.config");
    const connection = new WorkspaceConnection(client, clock);
    this.#container = new ContainerLifecycle({ connection, settings, name });
  }

  /** The container's id, or `null` if there is none. */
  get containerId(): string | null {
    return this.#container.containerId;
  }

  /** The state of the container. */
  get state(): ContainerState {
    return this.#container.state;
  }

  /** The ids of the containers that no longer exist. */
  get gone(): ReadonlySet<string> {
    return this.#container.gone;
  }

  /** Creates the container if there is none, once for concurrent callers. Returns its id. */
  async ensure(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<string> {
    checkKnownKeys(options, "ContainerManager.ensure(options)", { signal: true });
    return await this.#container.ensure(options);
  }

  /**
   * Runs an operation with the container. If the container no longer exists, runs it once more with a
   * new one. Throws `ContainerExpiredError` if that fails too.
   */
  async use<Result>(
    operation: (id: string) => Promise<Result>,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Result> {
    checkKnownKeys(options, "ContainerManager.use(options)", { signal: true });
    return await this.#container.use(operation, options);
  }

  /** Marks the container as lost, so that the next use creates another. Ignores other ids. */
  lose(id: string, error: unknown): void {
    this.#container.lose(id, error);
  }

  /** Adopts a container that the provider created. */
  adopt(id: string): void {
    this.#container.adopt(id);
  }

  /**
   * Releases the container. It expires at the provider, or is deleted now with `remove`. Throws if it
   * could not be deleted; call it again to retry.
   */
  async release(options: { readonly remove?: boolean } = {}): Promise<void> {
    checkKnownKeys(options, "ContainerManager.release(options)", { remove: true });
    await this.#container.release(options);
  }
}
