import { resolveThrottlePolicy, type ThrottlePolicy } from "../adapter/throttle.ts";
import { checkOptions } from "../base/check-names.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import {
  checkBoolean,
  checkKeys,
  checkSingleLine,
  deferCheck,
  enumCheck,
  optional,
} from "../tools/config-checks.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { checkIsolation } from "./check-isolation.ts";
import { type ClaudeHostedToolsConfig, createHostedTools } from "./hosted-tools-config.ts";
import type { IsolationConfig } from "./isolation.ts";
import {
  type ClaudeModelConfig,
  checkModelConfig,
  toModelOptions,
  toModelVariables,
} from "./model-config.ts";
import { type PermissionMode, permissionModes } from "./permissions.ts";
import type { ClaudeSdk } from "./sdk.ts";
import { createFileTools } from "./tools/file-tools.ts";

/** Options of a `ClaudeAgentSDKAdapter`. */
export interface ClaudeAgentSDKAdapterOptions {
  /** Anthropic's name of the model: `"claude-sonnet-5"`. @default the SDK's default model */
  readonly model?: string | undefined;
  /** Effort, output limit, fallback model and cost limit. @default the SDK's defaults */
  readonly modelConfig?: ClaudeModelConfig | undefined;
  /** The actions that the model may take. It never prompts for permission. @default "dontAsk" */
  readonly permissionMode?: PermissionMode | undefined;
  /**
   * The access of the SDK's process and the model's commands to the host.
   * @default no network, no home folders, and only harmless environment variables
   */
  readonly isolation?: IsolationConfig | undefined;
  /** Environment variables for the SDK's process. They override `isolation.env` and inherited ones. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The turn limit of evaluations that do not set `maxTurns`. @default 50 */
  readonly maxTurns?: number | undefined;
  /** Hosted tools to add to every prompt that does not have the same kind already. @default none */
  readonly hostedTools?: ClaudeHostedToolsConfig | null | undefined;
  /**
   * `"error"` rejects hosted tools that the SDK cannot run. `"omit"` removes them and publishes
   * `HostedToolOmitted`. @default "error"
   */
  readonly unsupportedHostedTools?: "error" | "omit" | undefined;
  /** Rolls back session and workspace if the SDK's `Bash`, `Edit` or `Write` fails. @default false */
  readonly rollBackFailedNativeTools?: boolean | undefined;
  /** The retry policy for a throttled first request. The SDK itself retries later requests once. */
  readonly throttle?: Partial<ThrottlePolicy> | undefined;
  /** The SDK, if it cannot be imported by its package name. @default the installed package */
  readonly sdk?: ClaudeSdk | undefined;
  /** The clock for deadlines, retries and timestamps. @default the system clock */
  readonly clock?: Clock | undefined;
  /** Returns a number from 0 up to 1, to vary the pauses between retries. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** Receives debug messages and warnings. @default a logger that discards them */
  readonly logger?: Logger | undefined;
}

/** Validated adapter options with their defaults. */
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

/** Validates the options of an adapter and fills in their defaults. */
export function toAdapterSettings(options: ClaudeAgentSDKAdapterOptions = {}): AdapterSettings {
  checkKeys<ClaudeAgentSDKAdapterOptions>({ ...checkOptions(options, NAME) }, NAME, {
    model: optional(checkSingleLine),
    permissionMode: optional(enumCheck([...permissionModes])),
    unsupportedHostedTools: optional(enumCheck(["error", "omit"])),
    rollBackFailedNativeTools: optional(checkBoolean),
    env: optional(checkEnv),
    sdk: optional(checkSdk),
    // Validated where they are used.
    modelConfig: deferCheck,
    isolation: deferCheck,
    maxTurns: deferCheck,
    hostedTools: deferCheck,
    throttle: deferCheck,
    clock: deferCheck,
    random: deferCheck,
    logger: deferCheck,
  });
  const modelConfig = checkModelConfig(options.modelConfig ?? {});
  const permissionMode = options.permissionMode ?? "dontAsk";
  return {
    model: options.model ?? null,
    modelOptions: toModelOptions(options.model ?? null, modelConfig),
    permissionMode,
    isolation: checkIsolation(options.isolation ?? {}),
    env: { ...toModelVariables(modelConfig), ...options.env },
    maxTurns: options.maxTurns,
    hostedTools: createHostedTools(options.hostedTools ?? {}),
    fileTools: createFileTools(permissionMode),
    unsupported: options.unsupportedHostedTools ?? "error",
    rollsBack: options.rollBackFailedNativeTools ?? false,
    throttle: resolveThrottlePolicy(options.throttle),
    sdk: options.sdk ?? null,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

function checkEnv(value: unknown, field: string): void {
  const isValid = Object(value) === value && Object.values(Object(value)).every(isString);
  if (isValid) return;
  const rule = "must be an object of strings";
  const remedy = 'pass variables by name, for example { TZ: "UTC" }';
  throw new InvalidOptionError({ field, value, rule, remedy, secret: true });
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function checkSdk(value: unknown, field: string): void {
  if (typeof Object(value).query === "function") return;
  const rule = "must be the package @anthropic-ai/claude-agent-sdk";
  throw new InvalidOptionError({ field, value, rule, remedy: "pass the imported module" });
}
