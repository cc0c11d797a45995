import { checkKnownKeys, InvalidOptionError } from "../base/errors.ts";
import { AccessPolicy } from "./access/access-policy.ts";
import { isLoopback } from "./access/is-loopback.ts";
import { unmountBelow } from "./containers/disks/unmount-below.ts";
import {
  type Listening,
  type ListenOptions,
  listen,
  listenKeys,
  type RequestGate,
} from "./http/listen.ts";
import {
  type LocalProviderOptions,
  type ProviderSettings,
  readProviderSettings,
} from "./provider-options.ts";
import type { LimitReport } from "./sandbox/sandbox.ts";
import { type LocalServer, startServer } from "./server.ts";
import { Upgrades } from "./socket/upgrades.ts";
import { toDataDirError } from "./store/storage-problem.ts";
import { sweepTemporaryDataDirs, TemporaryDataDir } from "./store/temporary-data-dir.ts";
import { ConnectionDroppedError } from "./turn/connection-dropped-error.ts";

/**
 * OpenAI's API on the host, without a key or network access: hosted tools really run. It also serves Anthropic's
 * Messages API for the Claude Agent SDK, at the same URL without `/v1`.
 *
 * @example
 * ```ts
 * import { LocalProvider, scriptedModel } from "weakincentives/local";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const provider = new LocalProvider({ model: scriptedModel([[{ say: "Hello!" }]]) });
 * const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch: provider.fetch } });
 * // or over a socket, for any SDK
 * const { url } = await provider.listen();
 * ```
 */
export class LocalProvider implements AsyncDisposable {
  /** Answers requests in process: pass it as `clientConfig.fetch`. */
  readonly fetch: typeof globalThis.fetch;
  readonly #settings: ProviderSettings;
  readonly #listening = new Set<Listening>();
  #server: Promise<LocalServer> | null = null;
  #disposal: Promise<void> | null = null;

  constructor(options: LocalProviderOptions = {}) {
    this.#settings = readProviderSettings(options);
    this.fetch = async (input, init) => await this.#fetch(new Request(input, init));
  }

  /**
   * Returns the sandbox that code runs in, the reason for the choice, and how its limits hold. It is chosen now
   * if no code has run yet. By default a trial run in it has succeeded. With `trial: false` a sandbox whose trial takes seconds
   * may be returned untried; `reason` then mentions it.
   */
  async sandbox(
    options: { readonly trial?: boolean | undefined } = {},
  ): Promise<{ readonly name: string; readonly reason: string; readonly limits: LimitReport }> {
    checkKnownKeys(options, "LocalProvider.sandbox(options)", { trial: true });
    const { trial = true } = options;
    const server = await this.#getServer();
    const { sandbox, reason } = await server.sandbox.choose(trial);
    return { name: sandbox.name, reason, limits: await server.sandbox.grade() };
  }

  /**
   * Serves on a socket, over HTTP and, for the Responses API, over WebSocket. Hosts other than loopback require an
   * `apiKey`.
   */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    checkKnownKeys(options, "LocalProvider.listen(options)", listenKeys);
    const { host = "127.0.0.1" } = options;
    const hasKey = this.#settings.apiKey !== undefined;
    if (!hasKey && !isLoopback(host)) throw createMissingKeyError(host);
    const { api, connections, refuse } = await this.#getServer();
    const { fetch } = api;
    const gate = hasKey ? undefined : this.#createGate(refuse);
    const upgrades = new Upgrades({ ...connections, fetch, gate });
    const listening = await listen(fetch, options, { upgrades, gate });
    if (!hasKey && !isLoopback(listening.address)) {
      await listening.close();
      throw createMissingKeyError(`${host} (${listening.address})`); // a host name that is not this machine
    }
    if (this.#disposal) {
      await listening.close();
      throw createDisposedError();
    }
    this.#listening.add(listening);
    return {
      url: listening.url,
      close: async () => {
        this.#listening.delete(listening);
        await listening.close();
      },
    };
  }

  /** Ends all turns, connections and container processes, and deletes temporary data. */
  close(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  /** Closes the provider. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Without a key, web pages must not reach the server. */
  #createGate(refuse: LocalServer["refuse"]): RequestGate {
    const policy = new AccessPolicy(this.#settings);
    return (incoming) => {
      const problem = policy.check(incoming);
      return problem && refuse(incoming, problem);
    };
  }

  async #dispose(): Promise<void> {
    for (const listening of this.#listening) await listening.close();
    this.#listening.clear();
    const server = await this.#server?.catch(() => null);
    await server?.[Symbol.asyncDispose]();
  }

  async #fetch(request: Request): Promise<Response> {
    const { api, closing } = await this.#getServer();
    if (this.#disposal) throw createDisposedError();
    const signal = AbortSignal.any([request.signal, closing]);
    try {
      const response = await api.fetch(new Request(request, { signal }));
      request.signal.throwIfAborted();
      return response;
    } catch (error) {
      // A lost connection looks like this to a caller of fetch.
      throw error instanceof ConnectionDroppedError
        ? new TypeError("fetch failed", { cause: error })
        : error;
    }
  }

  #getServer(): Promise<LocalServer> {
    if (this.#disposal) throw createDisposedError();
    this.#server ??= startWithDataDir(this.#settings).catch((error) => {
      this.#server = null; // the next request tries again
      throw error;
    });
    return this.#server;
  }
}

/**
 * Starts a server. Deletes a temporary data folder when the server closes, and those that killed processes have left.
 */
async function startWithDataDir(settings: ProviderSettings): Promise<LocalServer> {
  const { dataDir } = settings;
  if (dataDir !== undefined) return await startIn(dataDir, settings, () => undefined);
  void sweepTemporaryDataDirs(unmountBelow);
  const folder = new TemporaryDataDir();
  const remove = () => folder[Symbol.dispose]();
  try {
    return await startIn(folder.path, settings, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

async function startIn(
  dataDir: string,
  settings: ProviderSettings,
  onEnd: () => void,
): Promise<LocalServer> {
  try {
    return await startServer({ ...settings, dataDir }, onEnd);
  } catch (error) {
    throw toDataDirError(error, dataDir);
  }
}

function createDisposedError(): InvalidOptionError {
  return new InvalidOptionError({
    field: "LocalProvider",
    value: "disposed",
    rule: "must not be disposed",
    remedy: "create a new one",
  });
}

function createMissingKeyError(host: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "listen(host)",
    value: host,
    rule: "must be a loopback address unless the provider has an apiKey",
    remedy: "pass new LocalProvider({ apiKey }), or listen on 127.0.0.1",
  });
}
