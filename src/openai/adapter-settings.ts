import type { ToolChoice } from "../adapter/model-client.ts";
import type { RetrySettings } from "../adapter/throttle.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Codecs } from "./codecs/codec.ts";
import type { CompactionSettings } from "./compaction/compaction-config.ts";
import type { OpenAIClient } from "./http/client.ts";
import type { ModelFields, OpenAIModelConfig } from "./model-config.ts";

/**
 * The validated options of an `OpenAIAdapter`, with defaults filled in. The adapter passes them to
 * its conversations and workspaces.
 */
export interface AdapterSettings extends RetrySettings {
  readonly model: string;
  readonly modelConfig: OpenAIModelConfig;
  /** The model config as fields of the request body, without `extraBody`. */
  readonly modelFields: ModelFields;
  readonly client: OpenAIClient;
  readonly timeoutMs: number;
  /** How responses are requested. Every evaluation of the adapter uses and changes this object. */
  readonly delivery: DeliveryState;
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  readonly codecs: Codecs;
  readonly capabilities: Capabilities;
  /** Whether a hosted tool that the model cannot run throws or is omitted. */
  readonly unsupported: "error" | "omit";
  /** Whether the first request waits for a check that the containers named by tools exist. */
  readonly checkContainers: boolean;
  readonly compaction: CompactionSettings;
}

/** How responses are requested. It changes when the provider refuses to stream. */
export interface DeliveryState {
  /** Whether the provider runs responses without their connection. It never changes. */
  readonly isBackground: boolean;
  /** Whether responses are requested as streams. */
  isStreamed: boolean;
  /** Whether requests for streams have `stream_options`. */
  hasStreamOptions: boolean;
}
