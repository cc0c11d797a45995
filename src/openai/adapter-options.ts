import type { ToolChoice } from "../adapter/model-client.ts";
import { type ThrottlePolicy, throttlePolicy } from "../adapter/throttle.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { checkOptions } from "../base/names.ts";
import {
  checkBoolean,
  checkKeys,
  checkText,
  elsewhere,
  oneOf,
  optional,
} from "../tools/config-checks.ts";
import { capabilities } from "./capabilities.ts";
import type { HostedToolCodec } from "./codecs/codec.ts";
import { codecsByKind } from "./codecs/codec-registry.ts";
import { canCompact } from "./compaction/compact.ts";
import {
  type CompactionConfig,
  type CompactionSettings,
  compactionSettings,
} from "./compaction/compaction-config.ts";
import { zdrModelConfig } from "./compaction/zdr.ts";
import { hostedToolsOf, type OpenAIHostedToolsConfig } from "./hosted-tools-config.ts";
import type { OpenAIClient } from "./http/client.ts";
import type { OpenAIClientConfig } from "./http/client-config.ts";
import { openAIClient } from "./http/http-client.ts";
import { checkModelConfig, modelFields, type OpenAIModelConfig } from "./model-config.ts";
import type { AdapterSettings } from "./settings.ts";

/** What an `OpenAIAdapter` is made from. */
export interface OpenAIAdapterOptions {
  /** As the provider names it: `"gpt-5.2-codex"`. */
  readonly model: string;
  readonly modelConfig?: OpenAIModelConfig | undefined;
  /** How to reach the provider. Not beside `client`. */
  readonly clientConfig?: OpenAIClientConfig | undefined;
  /** What to reach it with instead: `new OpenAI()` fits. It is told not to retry. */
  readonly client?: OpenAIClient | undefined;
  /** For every prompt; the prompt's own tool of the same kind wins. @default none */
  readonly hostedTools?: OpenAIHostedToolsConfig | null | undefined;
  /** Keeps conversations short, and has the provider keep nothing of them. @default it does neither */
  readonly compaction?: CompactionConfig | null | undefined;
  /** Where `evaluate` is given none. @default "auto" */
  readonly toolChoice?: ToolChoice | undefined;
  /** These stand in for the default ones of their kinds. */
  readonly hostedToolCodecs?: Iterable<HostedToolCodec> | undefined;
  /** The kinds that models can run, by a prefix of their names, over the default table. */
  readonly nativeTools?: Readonly<Record<string, Iterable<string>>> | undefined;
  /** `"omit"` leaves out what the model cannot run, with an event. @default "error" */
  readonly unsupportedHostedTools?: "error" | "omit" | undefined;
  /** Whether containers that tools name are looked for before the first request. @default true */
  readonly checkContainers?: boolean | undefined;
  readonly throttle?: Partial<ThrottlePolicy> | undefined;
  readonly clock?: Clock | undefined;
  /** From 0 up to 1: spreads waits. @default Math.random */
  readonly random?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
}

/** Refuses what cannot be, before anything is sent. */
export function adapterSettings(options: OpenAIAdapterOptions): AdapterSettings {
  checkKeys<OpenAIAdapterOptions>({ ...checkOptions(options, "OpenAIAdapter") }, "OpenAIAdapter", {
    model: checkText,
    checkContainers: optional(checkBoolean),
    unsupportedHostedTools: optional(oneOf(["error", "omit"])),
    // Each of these is looked at by what takes it.
    modelConfig: elsewhere,
    clientConfig: elsewhere,
    client: elsewhere,
    hostedTools: elsewhere,
    compaction: elsewhere,
    toolChoice: elsewhere,
    hostedToolCodecs: elsewhere,
    nativeTools: elsewhere,
    throttle: elsewhere,
    clock: elsewhere,
    random: elsewhere,
    logger: elsewhere,
  });
  const { model, modelConfig, clientConfig } = options;
  const compaction = compactionSettings(options.compaction, "OpenAIAdapter.compaction");
  const client = clientOf(options);
  const config = zdrModelConfig(checkModelConfig(modelConfig ?? {}), compaction);
  if (compaction.enabled) checkCanCompact(client, compaction);
  return {
    model,
    modelConfig: config,
    modelFields: modelFields(config),
    compaction,
    client,
    timeoutMs: clientConfig?.timeoutMs ?? timeoutOf(options.client) ?? 600_000,
    hostedTools: hostedToolsOf(options.hostedTools ?? {}),
    toolChoice: options.toolChoice ?? "auto",
    codecs: codecsByKind(options.hostedToolCodecs),
    capabilities: capabilities(options.nativeTools),
    unsupported: options.unsupportedHostedTools ?? "error",
    checksContainers: options.checkContainers ?? true,
    throttle: throttlePolicy(options.throttle),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

function checkCanCompact(client: OpenAIClient, { strategy }: CompactionSettings): void {
  if (strategy === "server" || canCompact(client)) return;
  throw new InvalidOptionError({
    field: "OpenAIAdapter.client",
    value: Object.keys(client.responses),
    rule: "must be a client that can compact and count tokens, with compaction",
    remedy: 'give a newer client, leave it out, or take the strategy "server"',
  });
}

/** The official client says how long it waits; others may not. */
function timeoutOf(client: object | undefined): number | null {
  return client && "timeout" in client && typeof client.timeout === "number"
    ? client.timeout
    : null;
}

function clientOf({ client, clientConfig }: OpenAIAdapterOptions): OpenAIClient {
  if (client === undefined) return openAIClient(clientConfig);
  if (clientConfig !== undefined) {
    throw new InvalidOptionError({
      field: "OpenAIAdapter.clientConfig",
      value: Object.keys(clientConfig),
      rule: "must be left out beside client",
      remedy: "give the client its own settings, or leave the client out",
    });
  }
  if (typeof client?.responses?.create === "function") return client;
  throw new InvalidOptionError({
    field: "OpenAIAdapter.client",
    value: client,
    rule: "must be an OpenAI client",
    remedy: "give new OpenAI(), or leave it out and give clientConfig",
  });
}
