import type { ToolChoice } from "../adapter/model-client.ts";
import { resolveThrottlePolicy, type ThrottlePolicy } from "../adapter/throttle.ts";
import { checkOptions } from "../base/check-names.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import {
  checkBoolean,
  checkKeys,
  checkSingleLine,
  deferCheck,
  enumCheck,
  optional,
} from "../tools/config-checks.ts";
import type { AdapterSettings } from "./adapter-settings.ts";
import { createCapabilities } from "./capabilities.ts";
import type { HostedToolCodec } from "./codecs/codec.ts";
import { createCodecRegistry } from "./codecs/codec-registry.ts";
import { canCompact } from "./compaction/compact-items.ts";
import {
  type CompactionConfig,
  type CompactionSettings,
  resolveCompactionSettings,
} from "./compaction/compaction-config.ts";
import { toZeroRetentionConfig } from "./compaction/zero-retention.ts";
import { createHostedTools, type OpenAIHostedToolsConfig } from "./hosted-tools-config.ts";
import { canRunInBackground } from "./http/background-calls.ts";
import type { OpenAIClient } from "./http/client.ts";
import type { OpenAIClientConfig } from "./http/client-config.ts";
import { canStream } from "./http/client-stream.ts";
import { HttpClient, openAIClient } from "./http/http-client.ts";
import { checkModelConfig, type OpenAIModelConfig, toModelFields } from "./model-config.ts";

/** Options of the `OpenAIAdapter` constructor. */
export interface OpenAIAdapterOptions {
  /** The model's name at the provider, such as `"gpt-5.2-codex"`. */
  readonly model: string;
  /**
   * Sampling, reasoning and storage settings, sent with every request. @default the provider's
   * defaults
   */
  readonly modelConfig?: OpenAIModelConfig | undefined;
  /** How to reach the provider. Cannot be combined with `client`. */
  readonly clientConfig?: OpenAIClientConfig | undefined;
  /**
   * A client to use instead of the built-in one, such as `new OpenAI()`. Calls set `maxRetries: 0`.
   */
  readonly client?: OpenAIClient | undefined;
  /**
   * How responses arrive: `"stream"` as a stream of events, or `"buffered"` in one piece when they are
   * complete. Streamed responses can be read as they arrive, and a long turn does not look like an idle
   * connection. If the provider or `client` cannot stream, responses are buffered.
   *
   * `"background"` streams responses that the provider runs and stores without the connection: a cut
   * stream is resumed where it stopped, a resumed evaluation picks up the response that another process
   * submitted, and cancelling also cancels at the provider. It cannot be combined with
   * `compaction.zdrMode` or `modelConfig.store: false`. @default "stream"
   */
  readonly delivery?: "stream" | "buffered" | "background" | undefined;
  /** Hosted tools for every prompt. A prompt's own tool of the same kind wins. @default none */
  readonly hostedTools?: OpenAIHostedToolsConfig | null | undefined;
  /** Compacts long conversations and turns on zero data retention. @default both are off */
  readonly compaction?: CompactionConfig | null | undefined;
  /** The tool choice for evaluations that do not pass one. @default "auto" */
  readonly toolChoice?: ToolChoice | undefined;
  /**
   * Codecs for hosted tools. Each replaces the default codec of its kind. @default `defaultCodecs`
   */
  readonly hostedToolCodecs?: Iterable<HostedToolCodec> | undefined;
  /**
   * The hosted tool kinds that models can run, by a prefix of the model's name. Each row replaces
   * the default table's row for the same prefix.
   */
  readonly nativeTools?: Readonly<Record<string, Iterable<string>>> | undefined;
  /**
   * `"omit"` drops tools that the model cannot run and publishes `HostedToolOmitted`. @default
   * "error"
   */
  readonly unsupportedHostedTools?: "error" | "omit" | undefined;
  /** Checks before the first request that the containers named by tools exist. @default true */
  readonly checkContainers?: boolean | undefined;
  /** How throttled requests are retried. Omitted fields have their defaults. */
  readonly throttle?: Partial<ThrottlePolicy> | undefined;
  /** Time source for retries, deadlines and timeouts. @default the system clock */
  readonly clock?: Clock | undefined;
  /**
   * Returns a number from 0 (inclusive) to 1 (exclusive); adds jitter to retry delays. @default
   * Math.random
   */
  readonly random?: (() => number) | undefined;
  /** Receives the adapter's log messages. @default messages are discarded */
  readonly logger?: Logger | undefined;
}

/** Validates the adapter's options and fills in defaults. Sends no request. */
export function toAdapterSettings(options: OpenAIAdapterOptions): AdapterSettings {
  checkKeys<OpenAIAdapterOptions>({ ...checkOptions(options, "OpenAIAdapter") }, "OpenAIAdapter", {
    model: checkSingleLine,
    checkContainers: optional(checkBoolean),
    delivery: optional(enumCheck(["stream", "buffered", "background"])),
    unsupportedHostedTools: optional(enumCheck(["error", "omit"])),
    // Validated by the code that uses them.
    modelConfig: deferCheck,
    clientConfig: deferCheck,
    client: deferCheck,
    hostedTools: deferCheck,
    compaction: deferCheck,
    toolChoice: deferCheck,
    hostedToolCodecs: deferCheck,
    nativeTools: deferCheck,
    throttle: deferCheck,
    clock: deferCheck,
    random: deferCheck,
    logger: deferCheck,
  });
  const { model, modelConfig, clientConfig } = options;
  const compaction = resolveCompactionSettings(
    options.compaction,
    "OpenAIAdapter.compaction",
    model,
  );
  const client = resolveClient(options);
  const config = toZeroRetentionConfig(checkModelConfig(modelConfig ?? {}), compaction);
  if (compaction.enabled) checkCanCompact(client, compaction);
  const isBackground = options.delivery === "background";
  if (isBackground) checkBackground(client, config, compaction);
  return {
    model,
    modelConfig: config,
    modelFields: toModelFields(config),
    compaction,
    client,
    timeoutMs: clientConfig?.timeoutMs ?? readTimeout(options.client) ?? 600_000,
    delivery: {
      isBackground,
      isStreamed:
        options.delivery !== "buffered" && (client instanceof HttpClient || canStream(client)),
      hasStreamOptions: true,
    },
    hostedTools: createHostedTools(options.hostedTools ?? {}),
    toolChoice: copyAndFreeze(options.toolChoice ?? "auto"),
    codecs: createCodecRegistry(options.hostedToolCodecs),
    capabilities: createCapabilities(options.nativeTools),
    unsupported: options.unsupportedHostedTools ?? "error",
    checkContainers: options.checkContainers ?? true,
    throttle: resolveThrottlePolicy(options.throttle),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

/** Throws if responses cannot run in the background, which the provider stores. */
function checkBackground(
  client: OpenAIClient,
  { store }: OpenAIModelConfig,
  { zdrMode }: CompactionSettings,
): void {
  const field = "OpenAIAdapter.delivery";
  const reason = zdrMode ? "compaction.zdrMode" : "modelConfig.store: false";
  if (zdrMode || store === false) {
    throw new InvalidOptionError({
      field,
      value: "background",
      rule: `must not be "background" with ${reason}: the provider stores background responses`,
      remedy: 'use "stream", or allow the provider to store responses',
    });
  }
  if (canRunInBackground(client)) return;
  throw new InvalidOptionError({
    field: "OpenAIAdapter.client",
    value: Object.keys(client.responses),
    rule: 'must have responses.retrieve and responses.cancel when delivery is "background"',
    remedy: 'use a newer client, omit it, or set delivery to "stream"',
  });
}

function checkCanCompact(client: OpenAIClient, { strategy }: CompactionSettings): void {
  if (strategy === "server" || canCompact(client)) return;
  throw new InvalidOptionError({
    field: "OpenAIAdapter.client",
    value: Object.keys(client.responses),
    rule: "must have responses.compact and responses.inputTokens.count when compaction is enabled",
    remedy: 'use a newer client, omit it, or set compaction.strategy to "server"',
  });
}

/** The official client has a `timeout` property; other clients may not. */
function readTimeout(client: object | undefined): number | null {
  return client && "timeout" in client && typeof client.timeout === "number"
    ? client.timeout
    : null;
}

function resolveClient({ client, clientConfig }: OpenAIAdapterOptions): OpenAIClient {
  if (client === undefined) return openAIClient(clientConfig);
  if (clientConfig !== undefined) {
    throw new InvalidOptionError({
      field: "OpenAIAdapter.clientConfig",
      value: Object.keys(clientConfig),
      rule: "must be omitted when client is set",
      remedy: "configure the client itself, or omit client",
    });
  }
  if (typeof client?.responses?.create === "function") return client;
  throw new InvalidOptionError({
    field: "OpenAIAdapter.client",
    value: client,
    rule: "must be an OpenAI client",
    remedy: "pass new OpenAI(), or omit it and use clientConfig",
  });
}
