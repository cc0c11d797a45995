import type { AskedCall, HostedCall } from "../../adapter/model-client.ts";
import type { AutoContainerConfig, ContainerOptions } from "../../tools/hosted/code-interpreter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem, WireTool } from "../wire.ts";

/** What a codec may need to know besides the tool. */
export interface CodecEnv {
  readonly model: string;
  /** The workspace's container, if there is one. */
  readonly containerId: string | null;
  /** What a container that the provider makes for the workspace is given. @default nothing */
  readonly auto?: ContainerOptions | undefined;
}

/** Everything OpenAI-specific about one kind of hosted tool, both directions, in one object. */
export interface HostedToolCodec<Config extends object = object, Output = unknown> {
  readonly kind: string;
  /** The entry for the request's `tools`. What cannot be sent is refused with an `InvalidOptionError`. */
  serialize(tool: HostedTool<Config, Output>, env: CodecEnv): WireTool;
  /** What all calls among `items` gave; `null` if the model did not use the tool. */
  parseOutput(items: readonly WireItem[], tool: HostedTool<Config, Output>): Output | null;
  /** What must be asked for, without which the output comes back empty. @default nothing */
  include?(tool: HostedTool<Config, Output>): readonly string[];
  /** The calls the provider has run, in order. @default one, if `parseOutput` finds anything */
  calls?(
    items: readonly WireItem[],
    tool: HostedTool<Config, Output>,
  ): readonly HostedCall<Output>[];
  /** What forces the model to use it. @default `{ type: kind }` */
  toolChoice?(tool: HostedTool<Config, Output>): object;
  /** What a call's `params` hold, with their JSON types: all that a `NativeTool` may declare. */
  readonly params?: Readonly<Record<string, JsonType>> | undefined;
  /** What tells calls of several tools of this kind apart. @default nothing: one tool a prompt */
  label?(tool: HostedTool<Config, Output>): string;
  /** The calls the provider asks to have run here, in order. @default none */
  asked?(
    items: readonly WireItem[],
    tool: HostedTool<Config, Output>,
  ): readonly AskedCall<Output>[];
  /** Where the provider runs the tool's code, if it runs in a container. @default it does not */
  container?(tool: HostedTool<Config, Output>): CodeContainer | null;
  /** Why a `NativeTool` of this kind would wait for work that nobody does. @default it would not */
  nativeProblem?(tool: { readonly name: string; readonly config: object }): string | null;
  /** What is risky about the tool's config, for the log. @default nothing */
  warning?(tool: HostedTool<Config, Output>): string | null;
  /** What an asked call came to, for the provider. */
  answer?(call: HostedCall<Output>, tool: HostedTool<Config, Output>): WireItem;
}

/** The container that a tool's code runs in. */
export interface CodeContainer {
  /** The option of the tool's config that chooses it: `"container"`. */
  readonly option: string;
  /** Whether the config chooses one. */
  readonly isChosen: boolean;
  /** The id of a container that the caller has made. */
  readonly id: string | null;
  /** A container to be made with files of this machine. */
  readonly mounted: AutoContainerConfig | null;
}

/** The types of JSON Schema. */
export type JsonType = "string" | "number" | "integer" | "boolean" | "array" | "object";

/** The codec of each kind. */
export type Codecs = ReadonlyMap<string, HostedToolCodec>;
