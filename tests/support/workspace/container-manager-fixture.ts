import { onTestFinished } from "vitest";
import { LocalProvider } from "../../../src/local/provider.ts";
import { ContainerCalls } from "../../../src/openai/http/container-calls.ts";
import { openAIClient } from "../../../src/openai/http/http-client.ts";
import { resolveContainerSettings } from "../../../src/openai/workspace/container-config.ts";
import { ContainerLifecycle } from "../../../src/openai/workspace/container-lifecycle.ts";
import {
  ContainerManager,
  type ContainerManagerOptions,
} from "../../../src/openai/workspace/container-manager.ts";
import type { FillStep } from "../../../src/openai/workspace/transfer-strategy.ts";
import { WorkspaceConnection } from "../../../src/openai/workspace/workspace-connection.ts";
import { fakeClock } from "../../../src/testing/fake-clock.ts";
import { hostSandbox } from "../host-sandbox.ts";
import { type FaultRelay, startFaultRelay } from "./fault-relay.ts";

/** A provider behind a relay, and managers for its containers. */
export interface ContainerManagerFixture {
  readonly relay: FaultRelay;
  readonly url: string;
  readonly calls: ContainerCalls;
  /** The number of container creation requests. */
  readonly createdCount: number;
  /** Creates a public container manager. */
  createManager(options?: Partial<ContainerManagerOptions>): ContainerManager;
  /** Creates a container as a workspace does. */
  createFilledContainer(fill: Fill): FilledContainer;
  /** Returns the container's status, or the HTTP status if the request fails. */
  readStatus(id: string | null): Promise<unknown>;
}

/** Fills a new container and reports its progress. */
type Fill = (id: string, step: FillStep["report"], signal: AbortSignal) => Promise<void>;

/** A filled container and its replacements. */
export interface FilledContainer {
  readonly manager: ContainerLifecycle;
  readonly replacements: readonly {
    readonly containerId: string;
    readonly replacedBy: string;
    readonly reason: string;
    /** Whether code had run in the container. */
    readonly hasServed: boolean;
  }[];
}

/** Starts the fixture. It is disposed when the test ends. */
export async function createContainerManagerFixture(): Promise<ContainerManagerFixture> {
  const provider = new LocalProvider({ sandbox: hostSandbox() });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const relay = await startFaultRelay(url);
  onTestFinished(() => relay[Symbol.asyncDispose]());
  const calls = new ContainerCalls(openAIClient({ baseURL: url, apiKey: "local" }));
  const client = openAIClient({ baseURL: relay.url, apiKey: "local" });
  const clock = fakeClock({ skipsSleep: true });
  return {
    relay,
    url,
    calls,
    get createdCount() {
      return relay.requests.filter(({ method, path }) => `${method} ${path}` === CREATE).length;
    },
    createManager: (options = {}) => new ContainerManager({ client, clock, ...options }),
    createFilledContainer(fill) {
      const replacements: FilledContainer["replacements"][number][] = [];
      const connection = new WorkspaceConnection(client, clock);
      connection.publish = (event) => {
        if (event.type !== "ContainerReplaced") throw new Error(`Unexpected event ${event.type}`);
        const { containerId, replacedBy, reason, lost } = event;
        const hasServed = lost.includes("the memory of running code");
        replacements.push({ containerId, replacedBy, reason, hasServed });
      };
      const manager = new ContainerLifecycle({
        settings: resolveContainerSettings(),
        name: "test",
        connection,
        contents: {
          ready: async () => {},
          fill: ({ containerId, report, signal }) => fill(containerId, report, signal),
          fileCount: 0,
          hasLostWork: false,
          lostEntries: [],
          hasUnlistedChanges: false,
          writesThrough: false,
        },
      });
      return { manager, replacements };
    },
    readStatus: (id) =>
      calls.getStatus(id ?? "").catch((error: { status: unknown }) => error.status),
  };
}

const CREATE = "POST /containers";

/** Creates an operation that fails if the container does not exist. */
export function createListOperation(at: ContainerManagerFixture): (id: string) => Promise<string> {
  return async (id) => {
    await at.calls.list(id).next();
    return id;
  };
}

/** Creates an operation that deletes its container the first `times` times. */
export function createFailingOperation(at: ContainerManagerFixture, times: number) {
  const seen: string[] = [];
  const operation = async (id: string) => {
    seen.push(id);
    if (seen.length <= times) await at.calls.remove(id);
    return await createListOperation(at)(id);
  };
  return { seen, operation };
}
