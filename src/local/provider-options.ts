import { type Clock, systemClock } from "../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { checkAllowedHosts, checkAllowedOrigins } from "./access/check-allowed.ts";
import type { RequestEntry } from "./http/request-entry.ts";
import type { LocalModel } from "./models/local-model.ts";
import type { LimitGrade, Sandbox } from "./sandbox/sandbox.ts";
import type { LocalTool } from "./tools/local-tool.ts";
import { checkLocalTools } from "./tools/own/check-local-tools.ts";
import type { ToolRecord } from "./tools/tool-record.ts";

const refuse = InvalidOptionError.at("LocalProvider");

/** Options of a `LocalProvider`. */
export interface LocalProviderOptions {
  /** The model that answers requests. @default a model that echoes its input */
  readonly model?: LocalModel | undefined;
  /**
   * The sandbox that code runs in. `"auto"` takes the first of bubblewrap, Podman and Docker that works on the host;
   * `"wasm"` only in front of a `scriptedModel` or the echo, whose code is yours. @default "auto"
   */
  readonly sandbox?: "auto" | "bubblewrap" | "podman" | "docker" | "wasm" | Sandbox | undefined;
  /** The folder that stores all data. @default a temporary folder, deleted with the provider */
  readonly dataDir?: string | undefined;
  /** The API key that clients must send. @default none: requests need no key */
  readonly apiKey?: string | undefined;
  /**
   * Host names that clients may use in URLs without a key, in addition to `localhost` and loopback addresses: names of
   * a reverse proxy or from `/etc/hosts`, without a port. Ignored with an `apiKey`. @default none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Web pages that may send requests without a key, such as `"http://localhost:5173"`. The server sends no CORS
   * headers, so a page reaches it through its own server or over a WebSocket. Ignored with an `apiKey`. @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The time source. @default the system clock */
  readonly clock?: Clock | undefined;
  /** A folder of pages that serves as the web. @default none: web searches fail */
  readonly web?: string | undefined;
  /** Your hosted tools, in addition to the built-in ones. @default none */
  readonly tools?: readonly LocalTool[] | undefined;
  /** Limits of one request. @default see {@link LocalLimits} */
  readonly limits?: LocalLimits | undefined;
  /** Called with unexpected errors of the server itself, and with errors that a script throws. @default `console.error` */
  readonly onFault?: ((error: unknown) => void) | undefined;
  /**
   * Called with each request when its response is complete, to write a log: method, path, status, time, tokens
   * and the error. Errors that it throws go to `onFault`. @default none
   */
  readonly onRequest?: ((entry: RequestEntry) => void) | undefined;
}

const providerKeys: KnownKeys<LocalProviderOptions> = {
  allowedHosts: true,
  allowedOrigins: true,
  apiKey: true,
  clock: true,
  dataDir: true,
  limits: true,
  model: true,
  onFault: true,
  onRequest: true,
  sandbox: true,
  tools: true,
  web: true,
};

/** Limits of one request, and how the limits of containers must hold. */
export interface LocalLimits {
  /** The maximum size of a request's JSON body. @default 64 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * The time limit of one code run or one command, in milliseconds. A request can lower it for code, as
   * `timeoutSeconds` of the tool does. @default 60000
   */
  readonly runTimeoutMs?: number | undefined;
  /**
   * How the limits on memory, processes and disk of a container must hold. `"enforced"` refuses, before any code
   * runs, a host on which the operating system does not enforce them. `"watched"` also accepts limits that are
   * measured many times a second, with a warning: code can briefly exceed them. @default "watched"
   */
  readonly require?: LimitGrade | undefined;
  /**
   * How many containers keep a running interpreter. For one more, the least recently used idle interpreter is ended: its
   * files are kept, its variables are lost, and the next run in that container reports it. Interpreters that run code
   * are never ended; further runs wait for them. @default one per 512 MiB of memory, at most 8 per core, from 2 to 64
   */
  readonly maxInterpreters?: number | undefined;
  /** How many containers may exist before they expire. Creating more is a 429 error. @default 10000 */
  readonly maxContainers?: number | undefined;
  /**
   * How many bytes uploaded files and files in containers may use together. Uploads and runs beyond it are errors.
   * @default 100 GiB, or 80 % of the disk's free space at the start if that is less
   */
  readonly maxStoredBytes?: number | undefined;
}

const limitKeys: KnownKeys<LocalLimits> = {
  maxBodyBytes: true,
  require: true,
  maxContainers: true,
  maxInterpreters: true,
  maxStoredBytes: true,
  runTimeoutMs: true,
};

/** Validated options of a `LocalProvider`, with defaults applied. */
export interface ProviderSettings extends Omit<LocalProviderOptions, "tools"> {
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly tools: readonly ToolRecord[];
  readonly sandbox: NonNullable<LocalProviderOptions["sandbox"]>;
  readonly clock: Clock;
  readonly limits: LocalLimits & {
    readonly [Name in "maxBodyBytes" | "runTimeoutMs" | "require"]: NonNullable<LocalLimits[Name]>;
  };
  readonly onFault: (error: unknown) => void;
}

/** Validates the options and applies the defaults. Throws before creating any resources. */
export function readProviderSettings(options: LocalProviderOptions = {}): ProviderSettings {
  checkKnownKeys(options, "LocalProvider", providerKeys);
  const { model, apiKey, onRequest, limits = {} } = options;
  checkKnownKeys(limits, "LocalProvider.limits", limitKeys);
  if (model !== undefined && typeof model?.respond !== "function") {
    throw refuse(
      "model",
      model,
      "must be a LocalModel: an object with a respond method",
      "pass scriptedModel([…]) or upstreamModel({ … })",
    );
  }
  if (apiKey !== undefined && (typeof apiKey !== "string" || apiKey === "")) {
    throw new InvalidOptionError({
      field: "LocalProvider.apiKey",
      value: apiKey,
      rule: "must be a non-empty string",
      remedy: "omit it to accept requests without a key",
      secret: true,
    });
  }
  if (onRequest !== undefined && typeof onRequest !== "function")
    throw refuse("onRequest", onRequest, "must be a function", "omit it for no log");
  return {
    ...options,
    allowedHosts: checkAllowedHosts(options.allowedHosts),
    allowedOrigins: checkAllowedOrigins(options.allowedOrigins),
    tools: checkLocalTools(options.tools, "LocalProvider.tools"),
    sandbox: options.sandbox ?? "auto",
    clock: options.clock ?? systemClock,
    limits: {
      ...checkCaps(limits),
      maxBodyBytes: limits.maxBodyBytes ?? 64 * 1024 * 1024,
      runTimeoutMs: limits.runTimeoutMs ?? 60_000,
      require: checkGrade(limits.require),
    },
    // biome-ignore lint/suspicious/noConsole: errors of the server itself must be visible.
    onFault: options.onFault ?? ((error) => console.error(error)),
  };
}

function checkGrade(require: LimitGrade = "watched"): LimitGrade {
  if (require === "watched" || require === "enforced") return require;
  throw refuse(
    "limits.require",
    require,
    'must be "enforced" or "watched"',
    'omit it for "watched"',
  );
}

/** Validates the limits that count things. */
function checkCaps(limits: LocalLimits): LocalLimits {
  for (const name of ["maxInterpreters", "maxContainers", "maxStoredBytes"] as const) {
    const value = limits[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      throw refuse(
        `limits.${name}`,
        value,
        "must be a positive integer",
        "omit it for the default",
      );
  }
  return limits;
}
