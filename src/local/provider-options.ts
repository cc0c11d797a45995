import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import type { LocalModel } from "./models/local-model.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { LocalTool } from "./tools/local-tool.ts";
import { checkLocalTools } from "./tools/own/check-local-tools.ts";
import type { ToolRecord } from "./tools/tool-record.ts";

const refuse = InvalidOptionError.at("LocalProvider");

/** What a `LocalProvider` is made from. */
export interface LocalProviderOptions {
  /** Plays the model. @default one that echoes what it is told */
  readonly model?: LocalModel | undefined;
  /** Where code runs. @default "auto": the strongest that works here */
  readonly sandbox?: "auto" | "bubblewrap" | "wasm" | Sandbox | undefined;
  /** Where everything is kept. @default a temporary folder, which goes with the provider */
  readonly dataDir?: string | undefined;
  /** Whoever asks must have it. @default anybody may ask */
  readonly apiKey?: string | undefined;
  readonly clock?: Clock | undefined;
  /** A folder of pages, which is the web. @default there is none */
  readonly web?: string | undefined;
  /** Hosted tools of your own, beside the built-in ones. @default none */
  readonly tools?: readonly LocalTool[] | undefined;
  readonly limits?: LocalLimits | undefined;
  /** Told of faults of the server's own. @default `console.error` */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** How much one request may be and do. */
export interface LocalLimits {
  /** Of a request's JSON. @default 64 MiB */
  readonly maxBodyBytes?: number | undefined;
  /** Of one run of code or one command. @default 60000 */
  readonly runTimeoutMs?: number | undefined;
}

/** The same with its defaults. */
export interface ProviderSettings extends Omit<LocalProviderOptions, "tools"> {
  readonly tools: readonly ToolRecord[];
  readonly sandbox: NonNullable<LocalProviderOptions["sandbox"]>;
  readonly clock: Clock;
  readonly limits: { readonly [Name in keyof LocalLimits]-?: number };
  readonly onFault: (error: unknown) => void;
}

/** Refuses what cannot be, before anything is made. */
export function providerSettings(options: LocalProviderOptions = {}): ProviderSettings {
  const { model, apiKey } = options;
  if (model !== undefined && typeof model?.respond !== "function") {
    throw refuse(
      "model",
      model,
      "must be a LocalModel",
      "give scriptedModel([…]) or upstreamModel({ … })",
    );
  }
  if (apiKey !== undefined && (typeof apiKey !== "string" || apiKey === "")) {
    throw new InvalidOptionError({
      field: "LocalProvider.apiKey",
      value: apiKey,
      rule: "must be a text that is not empty",
      remedy: "leave it out for none",
      secret: true,
    });
  }
  return {
    ...options,
    tools: checkLocalTools(options.tools, "LocalProvider.tools"),
    sandbox: options.sandbox ?? "auto",
    clock: options.clock ?? systemClock,
    limits: {
      maxBodyBytes: options.limits?.maxBodyBytes ?? 64 * 1024 * 1024,
      runTimeoutMs: options.limits?.runTimeoutMs ?? 60_000,
    },
    // biome-ignore lint/suspicious/noConsole: a server's own faults must not pass unseen.
    onFault: options.onFault ?? ((error) => console.error(error)),
  };
}
