import { type ThrottlePolicy, throttlePolicy } from "../adapter/throttle.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { checkOptions } from "../base/names.ts";
import type { UnknownRecord } from "../base/reading.ts";
import {
  checkBoolean,
  checkKeys,
  checkText,
  elsewhere,
  oneOf,
  optional,
} from "../tools/config-checks.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { checkIsolation } from "./check-isolation.ts";
import { type ClaudeHostedToolsConfig, createHostedTools } from "./hosted-tools-config.ts";
import type { IsolationConfig } from "./isolation.ts";
import {
  type ClaudeModelConfig,
  checkModelConfig,
  modelOptions,
  modelVariables,
} from "./model-config.ts";
import { type PermissionMode, permissionModes } from "./permissions.ts";
import type { ClaudeSdk } from "./sdk.ts";
import { fileTools } from "./tools/file-tools.ts";

/** Options of a `ClaudeAgentSDKAdapter`. */
export interface ClaudeAgentSDKAdapterOptions {
  /** The model by Anthropic's name: `"claude-sonnet-5"`. @default the SDK's own */
  readonly model?: string | undefined;
  readonly modelConfig?: ClaudeModelConfig | undefined;
  /** What the model may do. Nothing ever asks for permission. @default "dontAsk" */
  readonly permissionMode?: PermissionMode | undefined;
  /** What the SDK's process and the model's commands see of this machine. @default almost nothing */
  readonly isolation?: IsolationConfig | undefined;
  /** Environment variables for the SDK's process. They override all others. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The limit for evaluations that set none themselves. @default 50 */
  readonly maxTurns?: number | undefined;
  /** Added to every prompt, except where the prompt has a tool of the same kind. @default none */
  readonly hostedTools?: ClaudeHostedToolsConfig | null | undefined;
  /** `"omit"` leaves out tools that the SDK cannot run, and publishes an event. @default "error" */
  readonly unsupportedHostedTools?: "error" | "omit" | undefined;
  /** Rolls back session and workspace when a call of the SDK's own tools fails. @default false */
  readonly rollBackFailedNativeTools?: boolean | undefined;
  /** How a throttled first request is retried. The SDK itself retries later requests once. */
  readonly throttle?: Partial<ThrottlePolicy> | undefined;
  /** The SDK, if it cannot be imported by its package name. @default the installed one */
  readonly sdk?: ClaudeSdk | undefined;
  readonly clock?: Clock | undefined;
  /** Returns a number from 0 up to 1, to vary the pauses between retries. @default Math.random */
  readonly random?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
}

/** The options of an adapter, checked and with their defaults. */
export interface AdapterSettings {
  readonly model: string | null;
  /** The SDK's options for the model. */
  readonly modelOptions: UnknownRecord;
  readonly permissionMode: PermissionMode;
  readonly isolation: IsolationConfig;
  readonly env: Readonly<Record<string, string>>;
  readonly maxTurns: number | undefined;
  readonly hostedTools: readonly HostedTool[];
  /** The hosted tools that a workspace adds to a prompt. */
  readonly fileTools: readonly HostedTool[];
  readonly unsupported: "error" | "omit";
  readonly rollsBack: boolean;
  readonly throttle: ThrottlePolicy;
  readonly sdk: ClaudeSdk | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

const NAME = "ClaudeAgentSDKAdapter";

/** Checks the options of an adapter and fills in their defaults. */
export function adapterSettings(options: ClaudeAgentSDKAdapterOptions = {}): AdapterSettings {
  checkKeys<ClaudeAgentSDKAdapterOptions>({ ...checkOptions(options, NAME) }, NAME, {
    model: optional(checkText),
    permissionMode: optional(oneOf([...permissionModes])),
    unsupportedHostedTools: optional(oneOf(["error", "omit"])),
    rollBackFailedNativeTools: optional(checkBoolean),
    env: optional(checkEnv),
    sdk: optional(checkSdk),
    // These are checked where they are used.
    modelConfig: elsewhere,
    isolation: elsewhere,
    maxTurns: elsewhere,
    hostedTools: elsewhere,
    throttle: elsewhere,
    clock: elsewhere,
    random: elsewhere,
    logger: elsewhere,
  });
  const modelConfig = checkModelConfig(options.modelConfig ?? {});
  const permissionMode = options.permissionMode ?? "dontAsk";
  return {
    model: options.model ?? null,
    modelOptions: modelOptions(options.model ?? null, modelConfig),
    permissionMode,
    isolation: checkIsolation(options.isolation ?? {}),
    env: { ...modelVariables(modelConfig), ...options.env },
    maxTurns: options.maxTurns,
    hostedTools: createHostedTools(options.hostedTools ?? {}),
    fileTools: fileTools(permissionMode),
    unsupported: options.unsupportedHostedTools ?? "error",
    rollsBack: options.rollBackFailedNativeTools ?? false,
    throttle: throttlePolicy(options.throttle),
    sdk: options.sdk ?? null,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

function checkEnv(value: unknown, field: string): void {
  const isRight = Object(value) === value && Object.values(Object(value)).every(isText);
  if (isRight) return;
  const rule = "must be an object of texts";
  const remedy = 'for example { TZ: "UTC" }';
  throw new InvalidOptionError({ field, value, rule, remedy, secret: true });
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function checkSdk(value: unknown, field: string): void {
  if (typeof Object(value).query === "function") return;
  const rule = "must be the package @anthropic-ai/claude-agent-sdk";
  throw new InvalidOptionError({ field, value, rule, remedy: "give what import(…) of it gives" });
}
