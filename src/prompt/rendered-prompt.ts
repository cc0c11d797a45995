import type { JsonSchema } from "../base/schema/schema.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import type { Tool } from "../tools/tool.ts";
import type { Attachment } from "./attachment.ts";
import type { MessageRole } from "./message-role.ts";
import type { OutputContract } from "./output-contract.ts";
import type { PromptDescriptor } from "./prompt-descriptor.ts";

/** A prompt as an adapter sends it: text, tools, and the output schema. */
export interface RenderedPrompt<Output = unknown> {
  /** Name of the prompt. */
  readonly promptName: string;
  /** Full text of the prompt: the texts of `messages`. */
  readonly text: string;
  /** The text by role: at most one message per role, and the system's before the user's. */
  readonly messages: readonly PromptMessage[];
  /** All tools in reading order, including native and provider tools, which do not run locally. */
  readonly tools: readonly Tool[];
  /** All tools that the provider runs, however they were declared. */
  readonly hostedTools: readonly HostedTool[];
  /** `hostedTools` as provider-neutral envelopes; never sent. */
  readonly nativeTools: readonly NativeToolEnvelope[];
  /** JSON Schema of the answer; `null` for text. */
  readonly outputSchema: JsonSchema | null;
  /** Validates the answer; `null` for text. */
  readonly output: OutputContract<Output> | null;
  /** Files and images of the first request. */
  readonly attachments: readonly Attachment[];
  /** Policies that are checked before a tool runs locally, by tool name. */
  readonly policies: ReadonlyMap<string, readonly ToolPolicy[]>;
  /** Names of the adapters that visible sections require, by section path. */
  readonly providers: ReadonlyMap<string, string>;
  /** The parts of the prompt that accept overrides. */
  readonly descriptor: PromptDescriptor;
}

/** The text of all sections with the same role. */
export interface PromptMessage {
  /** Who speaks. */
  readonly role: MessageRole;
  /** The text, never empty in a prompt that has any text. */
  readonly text: string;
}

/** A hosted tool as the provider-neutral envelope of the specifications. */
export interface NativeToolEnvelope {
  /** Always `"built_in"`. */
  readonly type: "built_in";
  /** Name of the tool. */
  readonly name: string;
  /** Provider-neutral name of the capability. */
  readonly kind: string;
  /** Settings of the tool. */
  readonly config: object;
}
