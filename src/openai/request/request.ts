import type { ToolAnswer, ToolChoice } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../../tools/projected-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { CodecEnv, Codecs } from "../codecs/codec.ts";
import type { OpenAIModelConfig } from "../model-config.ts";
import type { AdapterSettings } from "../settings.ts";
import type { WireFormat, WireFunction, WireOutput, WireRequest, WireTool } from "../wire.ts";
import { wireTools } from "./hosted-tool-gate.ts";
import { isStrict } from "./strict.ts";
import { wireToolChoice } from "./tool-choice.ts";

/** What of an adapter's settings its requests are made from. */
export type RequestSettings = Pick<
  AdapterSettings,
  "model" | "modelConfig" | "modelFields" | "codecs"
>;

/** A request without its `input`: the model, what it may call, and what it must answer with. */
export function requestOf(
  rendered: RenderedPrompt,
  toolChoice: ToolChoice,
  { model, modelConfig, modelFields, codecs }: RequestSettings,
  env: CodecEnv = { model, containerId: null },
): WireRequest {
  const functions = rendered.tools.filter((tool) => !runsAtProvider(tool)).map(functionOf);
  const tools = [...functions, ...wireTools(rendered.hostedTools, codecs, env)];
  const include = includes(rendered, codecs, modelConfig);
  const text = textOf(rendered, modelConfig);
  return {
    model,
    ...modelFields,
    ...(tools.length > 0 && {
      tools,
      tool_choice:
        typeof toolChoice === "string" ? toolChoice : wireToolChoice(toolChoice, rendered, codecs),
    }),
    ...(include.length > 0 && { include }),
    ...(text && { text }),
    ...modelConfig.extraBody,
  };
}

/** The containers that the tools of a request name; those that the provider makes are not named. */
export function containersNamed(tools: readonly WireTool[]): ReadonlySet<string> {
  const ids = tools.flatMap((tool) => {
    const { container, environment } = tool as { container?: unknown; environment?: unknown };
    const reference = isPlainObject(environment) ? environment["container_id"] : container;
    return typeof reference === "string" ? [reference] : [];
  });
  return new Set(ids);
}

/** What a tool gave, for the model. */
export function outputItem({ call, text }: ToolAnswer): WireOutput {
  return { type: "function_call_output", call_id: call.callId, output: text };
}

function functionOf({ name, description, paramsSchema }: Tool): WireFunction {
  const parameters: Record<string, unknown> = paramsSchema;
  // The provider takes a `strict` that is left out for true, and optional fields change meaning.
  return { type: "function", name, description, parameters, strict: isStrict(paramsSchema) };
}

/** What comes back empty unless it is asked for. */
function includes(
  { hostedTools }: RenderedPrompt,
  codecs: Codecs,
  { store }: OpenAIModelConfig,
): readonly string[] {
  const wanted = hostedTools.flatMap((tool) => codecs.get(tool.kind)?.include?.(tool) ?? []);
  const reasoning = store === false ? ["reasoning.encrypted_content"] : [];
  return [...new Set([...wanted, ...reasoning])];
}

function textOf(
  rendered: RenderedPrompt,
  { verbosity }: OpenAIModelConfig,
): WireRequest["text"] | null {
  const format = formatOf(rendered);
  if (!format && !verbosity) return null;
  return { ...(format && { format }), ...(verbosity && { verbosity }) };
}

function formatOf({ promptName, outputSchema }: RenderedPrompt): WireFormat | null {
  if (!outputSchema) return null;
  const name = promptName.replace(/[^\w-]/g, "_").slice(0, 64);
  return { type: "json_schema", name, schema: outputSchema, strict: isStrict(outputSchema) };
}
