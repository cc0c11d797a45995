import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidOptionError } from "../base/errors.ts";
import { type Listening, type ListenOptions, listen } from "./http/listen.ts";
import {
  type LocalProviderOptions,
  type ProviderSettings,
  providerSettings,
} from "./provider-options.ts";
import { type LocalServer, startServer } from "./server.ts";
import { Dropped } from "./turn/dropped.ts";

/**
 * OpenAI's API on this machine, with hosted tools that really run: no key, no network. Anthropic's
 * Messages API is there too, at the same place without `/v1`, for the Claude Agent SDK.
 *
 * @example
 * const provider = new LocalProvider({ model: scriptedModel([[{ code: "print(6 * 7)" }], [{ say: "42" }]]) });
 * const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch: provider.fetch } });
 */
export class LocalProvider implements AsyncDisposable {
  /** In process: pass it as `clientConfig.fetch`. */
  readonly fetch: typeof globalThis.fetch;
  readonly #settings: ProviderSettings;
  readonly #listening = new Set<Listening>();
  #server: Promise<LocalServer> | null = null;
  #ending: Promise<void> | null = null;

  constructor(options: LocalProviderOptions = {}) {
    this.#settings = providerSettings(options);
    this.fetch = async (input, init) => await this.#fetch(new Request(input, init));
  }

  /**
   * Which sandbox code runs in, and why that one: it is chosen now if no code has run yet. A trial run has
   * succeeded in it; without `trial` one that takes seconds to try may be named untried, and `reason` says so.
   */
  async sandbox({
    trial = true,
  }: {
    readonly trial?: boolean | undefined;
  } = {}): Promise<{ readonly name: string; readonly reason: string }> {
    const server = await this.#started();
    const { sandbox, reason } = await (trial ? server.sandbox.tried() : server.sandbox.chosen());
    return { name: sandbox.name, reason };
  }

  /** Serves on a socket; anywhere but on this machine only with a key. */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    const { host = "127.0.0.1" } = options;
    if (!isLoopback(host) && this.#settings.apiKey === undefined) throw needsKey(host);
    const { app } = await this.#started();
    const listening = await listen((request) => app.fetch(request), options);
    if (this.#ending) {
      await listening.close();
      throw disposed();
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

  /** Ends every turn, every connection and every container's process, and removes what was temporary. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    for (const listening of this.#listening) await listening.close();
    this.#listening.clear();
    const server = await this.#server?.catch(() => null);
    await server?.[Symbol.asyncDispose]();
  }

  async #fetch(request: Request): Promise<Response> {
    const { app, closing } = await this.#started();
    if (this.#ending) throw disposed();
    const signal = AbortSignal.any([request.signal, closing]);
    try {
      const response = await app.fetch(new Request(request, { signal }));
      request.signal.throwIfAborted();
      return response;
    } catch (error) {
      // As a connection that is lost looks to whoever fetches.
      throw error instanceof Dropped ? new TypeError("fetch failed", { cause: error }) : error;
    }
  }

  #started(): Promise<LocalServer> {
    if (this.#ending) throw disposed();
    this.#server ??= start(this.#settings).catch((error) => {
      this.#server = null; // whoever comes next may have better luck
      throw error;
    });
    return this.#server;
  }
}

/** A temporary folder goes with the server that it was made for. */
async function start(settings: ProviderSettings): Promise<LocalServer> {
  const { dataDir = mkdtempSync(join(tmpdir(), "wink-local-")) } = settings;
  const isTemporary = settings.dataDir === undefined;
  const remove = () => {
    if (isTemporary) rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    return await startServer({ ...settings, dataDir }, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function disposed(): InvalidOptionError {
  const [field, value, remedy] = ["LocalProvider", "disposed", "make a new one"];
  return new InvalidOptionError({ field, value, rule: "must be in use", remedy });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

function needsKey(host: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "listen(host)",
    value: host,
    rule: "must be this machine, unless the provider has an apiKey",
    remedy: "give new LocalProvider({ apiKey }), or listen on 127.0.0.1",
  });
}
