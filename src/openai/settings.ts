import type { ToolChoice } from "../adapter/model-client.ts";
import type { RetrySettings } from "../adapter/throttle.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Codecs } from "./codecs/codec.ts";
import type { CompactionSettings } from "./compaction/compaction-config.ts";
import type { OpenAIClient } from "./http/client.ts";
import type { ModelFields, OpenAIModelConfig } from "./model-config.ts";

/**
 * The options of an `OpenAIAdapter`, checked and with their defaults. The adapter passes them whole
 * to its conversations and workspaces.
 */
export interface AdapterSettings extends RetrySettings {
  readonly model: string;
  readonly modelConfig: OpenAIModelConfig;
  /** The model config in the API's words, without `extraBody`. */
  readonly modelFields: ModelFields;
  readonly client: OpenAIClient;
  readonly timeoutMs: number;
  readonly hostedTools: readonly HostedTool[];
  readonly toolChoice: ToolChoice;
  readonly codecs: Codecs;
  readonly capabilities: Capabilities;
  /** What happens to a hosted tool that the model cannot run. */
  readonly unsupported: "error" | "omit";
  /** Whether containers that tools name are looked up before the first request. */
  readonly checksContainers: boolean;
  readonly compaction: CompactionSettings;
}
