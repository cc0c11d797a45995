import type { Agent, buildConnector, Dispatcher } from "undici";

/** The parts of undici that send requests. */
export interface UndiciParts {
  readonly Agent: typeof Agent;
  readonly buildConnector: typeof buildConnector;
  /** Sends a request through a dispatcher. */
  send(
    dispatcher: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}

/**
 * Loads the parts of undici that send requests. Its index also loads `fetch`, WebSocket and caches, which takes 61 ms of
 * CPU instead of 25 ms. Its files may move with a release, so the index is loaded if one of them is not found.
 */
export async function loadUndici(importFile = importModule): Promise<UndiciParts> {
  try {
    const [agent, connect, request] = await Promise.all(FILES.map(importFile));
    if (!isClass(agent) || !isFunction(connect) || !isFunction(request)) return await loadIndex();
    return {
      Agent: agent,
      buildConnector: connect as typeof buildConnector,
      send: (dispatcher, options) => Reflect.apply(request, dispatcher, [options]),
    };
  } catch {
    return await loadIndex(); // reports why undici cannot be loaded
  }
}

const FILES = [
  "undici/lib/dispatcher/agent.js",
  "undici/lib/core/connect.js",
  "undici/lib/api/api-request.js",
];

async function importModule(path: string): Promise<unknown> {
  const module: { readonly default?: unknown } = await import(path);
  return module.default;
}

async function loadIndex(): Promise<UndiciParts> {
  const undici = await import("undici");
  const send: UndiciParts["send"] = (dispatcher, options) => dispatcher.request(options);
  return { Agent: undici.Agent, buildConnector: undici.buildConnector, send };
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => never {
  return typeof value === "function";
}

function isClass(value: unknown): value is typeof Agent {
  return isFunction(value) && "dispatch" in Object(value.prototype);
}
