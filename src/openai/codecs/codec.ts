import type { DelegatedCall, HostedCall } from "../../adapter/model-client.ts";
import type { AutoContainerConfig, ContainerOptions } from "../../tools/hosted/code-interpreter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem, WireTool } from "../wire.ts";
import type { MessageText } from "./message-text.ts";

/** The request's context for a codec. */
export interface CodecEnv {
  /** The model's name at the provider. */
  readonly model: string;
  /** The id of the workspace's container; `null` if there is none. */
  readonly containerId: string | null;
  /** Options of the container that the provider creates for the workspace. @default none */
  readonly auto?: ContainerOptions | undefined;
  /** Whether the prompt has a file system, for tools that run locally. @default unknown */
  readonly hasFilesystem?: boolean | undefined;
}

/** Everything OpenAI-specific about one kind of hosted tool, both directions, in one object. */
export interface HostedToolCodec<Config extends object = object, Output = unknown> {
  /** The kind of hosted tool, such as `"web_search"`. */
  readonly kind: string;
  /**
   * Creates the entry for the request's `tools`. Throws `InvalidOptionError` for an invalid config.
   */
  serialize(tool: HostedTool<Config, Output>, env: CodecEnv): WireTool;
  /**
   * Returns the combined output of all calls in `items`; `null` if the model did not use the tool.
   */
  parseOutput(items: readonly WireItem[], tool: HostedTool<Config, Output>): Output | null;
  /**
   * Entries for the request's `include`, without which the provider omits the output. @default none
   */
  include?(tool: HostedTool<Config, Output>): readonly string[];
  /** A sentence about the tool for the model. The prompt ends with it. @default none */
  advice?(tool: HostedTool<Config, Output>): string | null;
  /** Headers of every request that offers the tool, with names in lower case. @default none */
  headers?(tool: HostedTool<Config, Output>): Readonly<Record<string, string>>;
  /**
   * The calls that the provider ran, in order. `message` is the text of `items` with its citations, which all codecs
   * share. @default one call per item whose type is the serialized `type`, or begins with it, such as `"dice_call"`
   * for `"dice"`, if `parseOutput` returns an output for it
   */
  calls?(
    items: readonly WireItem[],
    tool: HostedTool<Config, Output>,
    message?: MessageText,
  ): readonly HostedCall<Output>[];
  /** The `tool_choice` that forces the model to use the tool. @default the serialized `type` */
  toolChoice?(tool: HostedTool<Config, Output>): object;
  /**
   * The fields of a call's `params` and their JSON types. A `NativeTool` can declare only these.
   */
  readonly params?: Readonly<Record<string, JsonType>> | undefined;
  /**
   * A label that distinguishes tools with the same kind. @default none: one tool of the kind per
   * prompt
   */
  label?(tool: HostedTool<Config, Output>): string;
  /** The calls that the provider delegates to this package, in order. @default none */
  delegatedCalls?(
    items: readonly WireItem[],
    tool: HostedTool<Config, Output>,
  ): readonly DelegatedCall<Output>[];
  /** The container that runs the tool's code. @default none */
  container?(tool: HostedTool<Config, Output>): CodeContainer | null;
  /** Explains why a `NativeTool` of this kind cannot work; `null` if it can. @default it can */
  nativeProblem?(tool: { readonly name: string; readonly config: object }): string | null;
  /** A warning about the tool's config, for the log. @default none */
  warning?(tool: HostedTool<Config, Output>): string | null;
  /** Creates the item that reports a delegated call's outcome to the provider. */
  answer?(call: HostedCall<Output>, tool: HostedTool<Config, Output>): WireItem;
}

/** The container that runs a tool's code. */
export interface CodeContainer {
  /** The option of the tool's config that selects the container, such as `"container"`. */
  readonly option: string;
  /** Whether the config sets that option. */
  readonly isChosen: boolean;
  /** The id of a container that the caller created; `null` if there is none. */
  readonly id: string | null;
  /** The config of a container to create with files from the host; `null` if there is none. */
  readonly mounted: AutoContainerConfig | null;
}

/** The types of JSON Schema. */
export type JsonType = "string" | "number" | "integer" | "boolean" | "array" | "object";

/** The codecs by kind. */
export type Codecs = ReadonlyMap<string, HostedToolCodec>;
