import type { ToolAnswer, ToolChoice } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readStringOrNull } from "../../base/json.ts";
import type { MessageRole } from "../../prompt/message-role.ts";
import type { PromptMessage, RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../../tools/as-hosted-tool.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import type { CodecEnv, Codecs } from "../codecs/codec.ts";
import type { OpenAIModelConfig } from "../model-config.ts";
import type {
  WireFormat,
  WireFunction,
  WireItem,
  WireOutput,
  WireRequest,
  WireTool,
} from "../wire.ts";
import { isStrictSchema } from "./strict-schema.ts";
import { toWireToolChoice } from "./tool-choice.ts";
import { toWireEntries } from "./tool-support.ts";

/** The adapter's settings that its requests contain. */
export type RequestSettings = Pick<
  AdapterSettings,
  "model" | "modelConfig" | "modelFields" | "codecs"
>;

/** Creates a request without its `input`: the model, its settings, tools and output format. */
export function createWireRequest(
  rendered: RenderedPrompt,
  toolChoice: ToolChoice,
  { model, modelConfig, modelFields, codecs }: RequestSettings,
  env: CodecEnv = { model, containerId: null },
): WireRequest {
  const functions = rendered.tools.filter((tool) => !runsAtProvider(tool)).map(toWireFunction);
  const entries = toWireEntries(rendered.hostedTools, codecs, env);
  const tools = [...functions, ...entries.values()];
  const include = collectIncludes(rendered, codecs, modelConfig);
  const offered = {
    tools: rendered.tools,
    hostedTools: rendered.hostedTools,
    codecs,
    getEntry: (tool: HostedTool) => entries.get(tool),
  };
  const text = createTextOptions(rendered, modelConfig);
  return {
    model,
    ...modelFields,
    ...(tools.length > 0 && {
      tools,
      tool_choice:
        typeof toolChoice === "string" ? toolChoice : toWireToolChoice(toolChoice, offered),
    }),
    ...(include.length > 0 && { include }),
    ...(text && { text }),
    ...modelConfig.extraBody,
  };
}

/**
 * Returns the prompt's system text, followed by what its hosted tools have to say to the model; `null`
 * if there is neither.
 */
export function createSystemText(
  { messages, hostedTools }: Pick<RenderedPrompt, "messages" | "hostedTools">,
  codecs: Codecs,
): string | null {
  const text = getMessageText(messages, "system");
  const advice = hostedTools.flatMap((tool) => codecs.get(tool.kind)?.advice?.(tool) ?? []);
  if (advice.length === 0) return text;
  return [...(text === null ? [] : [text]), ...advice].join("\n\n");
}

/** Returns the text of a prompt's message with this role; `null` if it has none. */
export function getMessageText(
  messages: readonly PromptMessage[],
  role: MessageRole,
): string | null {
  return messages.find((message) => message.role === role)?.text ?? null;
}

/** Collects the headers that hosted tools add to a request. */
export function collectHeaders(
  { hostedTools }: Pick<RenderedPrompt, "hostedTools">,
  codecs: Codecs,
): Readonly<Record<string, string>> {
  return Object.assign({}, ...hostedTools.map((tool) => codecs.get(tool.kind)?.headers?.(tool)));
}

/**
 * Finds the ids of existing containers in a request's tools. Containers to be created have none.
 */
export function findNamedContainers(tools: readonly WireTool[]): ReadonlySet<string> {
  const ids = tools.flatMap((tool) => {
    const { container, environment } = tool as { container?: unknown; environment?: unknown };
    const reference = isPlainObject(environment) ? environment["container_id"] : container;
    return typeof reference === "string" ? [reference] : [];
  });
  return new Set(ids);
}

/** Reads the memory limit of the containers that a kind of tool creates; `null` if it names one. */
export function readMemoryLimit(tools: readonly WireTool[], kind: string): string | null {
  const tool: WireItem = { ...tools.find(({ type }) => type === kind) };
  const container = { ...readRecord(tool, "environment"), ...readRecord(tool, "container") };
  return readStringOrNull(container, "memory_limit");
}

/** Creates the item with a tool's output. */
export function toOutputItem({ call, text }: ToolAnswer): WireOutput {
  return { type: "function_call_output", call_id: call.callId, output: text };
}

function toWireFunction({ name, description, paramsSchema }: Tool): WireFunction {
  const parameters: Record<string, unknown> = paramsSchema;
  // Always set `strict`: the API defaults to true, which makes optional fields required.
  return { type: "function", name, description, parameters, strict: isStrictSchema(paramsSchema) };
}

/** Collects the fields that the provider returns only if `include` lists them. */
function collectIncludes(
  { hostedTools }: RenderedPrompt,
  codecs: Codecs,
  { store }: OpenAIModelConfig,
): readonly string[] {
  const wanted = hostedTools.flatMap((tool) => codecs.get(tool.kind)?.include?.(tool) ?? []);
  const reasoning = store === false ? ["reasoning.encrypted_content"] : [];
  return [...new Set([...wanted, ...reasoning])];
}

function createTextOptions(
  rendered: RenderedPrompt,
  { verbosity }: OpenAIModelConfig,
): WireRequest["text"] | null {
  const format = createFormat(rendered);
  if (!format && !verbosity) return null;
  return { ...(format && { format }), ...(verbosity && { verbosity }) };
}

function createFormat({ promptName, outputSchema }: RenderedPrompt): WireFormat | null {
  if (!outputSchema) return null;
  const name = promptName.replace(/[^\w-]/g, "_").slice(0, 64);
  return { type: "json_schema", name, schema: outputSchema, strict: isStrictSchema(outputSchema) };
}
