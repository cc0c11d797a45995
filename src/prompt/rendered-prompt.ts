import type { JsonSchema } from "../base/schema/schema.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { ToolPolicy } from "../tools/policy.ts";
import type { Tool } from "../tools/tool.ts";
import type { Attachment } from "./attachment.ts";
import type { PromptDescriptor } from "./prompt-descriptor.ts";
import type { OutputContract } from "./structured-output.ts";

/** A prompt as a provider needs it: text, what may be called, and what must be answered. */
export interface RenderedPrompt<Output = unknown> {
  readonly promptName: string;
  readonly text: string;
  /** In reading order; native and provider tools are among them, and are not run here. */
  readonly tools: readonly Tool[];
  /** Everything the provider is to run, however it was declared. */
  readonly hostedTools: readonly HostedTool[];
  /** `hostedTools` as neutral envelopes; a view, never sent. */
  readonly nativeTools: readonly NativeToolEnvelope[];
  /** JSON Schema of the answer; `null` for text. */
  readonly outputSchema: JsonSchema | null;
  /** How the answer is read; `null` for text. */
  readonly output: OutputContract<Output> | null;
  readonly attachments: readonly Attachment[];
  /** Asked before a tool runs here, by its name. */
  readonly policies: ReadonlyMap<string, readonly ToolPolicy[]>;
  /** The adapters that shown sections are for, by the sections' paths, where there is one. */
  readonly providers: ReadonlyMap<string, string>;
  /** What of the prompt can be overridden. */
  readonly descriptor: PromptDescriptor;
}

/** A hosted tool in no provider's words, as the specifications' envelope has it. */
export interface NativeToolEnvelope {
  readonly type: "built_in";
  readonly name: string;
  readonly kind: string;
  readonly config: object;
}
