import type { Omission } from "../../adapter/model-client.ts";
import { getErrorMessage, InvalidOptionError, WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkOneToolPerKind } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { AdapterSettings } from "../adapter-settings.ts";
import type { CodeContainer, CodecEnv, Codecs, HostedToolCodec } from "../codecs/codec.ts";
import { codeToolRemedy } from "../hosted-tools-config.ts";
import type { WireTool } from "../wire.ts";
import { findNativeParamsProblem } from "./native-params.ts";

/** The adapter's settings and the prompt, which decide which hosted tools can be used. */
export interface ToolSupport
  extends Pick<AdapterSettings, "model" | "codecs" | "capabilities" | "unsupported"> {
  readonly prompt: Pick<Prompt, "filesystem">;
}

/** Throws if a prompt's hosted tools cannot work together; returns the tools to omit. */
export function checkHostedTools(
  rendered: RenderedPrompt,
  support: ToolSupport,
): readonly Omission[] {
  if (rendered.hostedTools.length === 0) return [];
  const omissions: Omission[] = [];
  for (const tool of rendered.hostedTools) {
    const problem = findUnsupported(tool, support);
    if (problem === null) continue;
    if (support.unsupported === "error") throw problem.error(rendered.promptName);
    omissions.push({ tool, reason: problem.reason });
  }
  const omitted = new Set(omissions.map(({ tool }) => tool.name));
  const supported = rendered.hostedTools.filter(({ name }) => !omitted.has(name));
  checkOneToolPerKind(supported, rendered.promptName, (tool) =>
    support.codecs.get(tool.kind)?.label?.(tool),
  );
  checkNativeTools(rendered, supported, support.codecs);
  const hasFilesystem = support.prompt.filesystem() !== null;
  const env = { model: support.model, containerId: null, hasFilesystem };
  toWireEntries(supported, support.codecs, env);
  return omissions;
}

/** Creates the request's entry for each hosted tool. Tools without a codec are not sent. */
export function toWireEntries(
  tools: readonly HostedTool[],
  codecs: Codecs,
  env: CodecEnv,
): ReadonlyMap<HostedTool, WireTool> {
  const entries = new Map<HostedTool, WireTool>();
  for (const tool of tools) {
    const codec = codecs.get(tool.kind);
    if (codec) entries.set(tool, checkEntry(serializeTool(codec, tool, env), tool));
  }
  return entries;
}

interface Unsupported {
  readonly reason: string;
  error(promptName: string): WinkError;
}

function findUnsupported(
  { kind, name }: HostedTool,
  { codecs, capabilities, model }: ToolSupport,
): Unsupported | null {
  if (!codecs.has(kind)) {
    const near = suggestSpelling(kind, codecs.keys());
    const hint = near ? `did you mean "${near}"?` : `use one of ${quoteNames(codecs.keys())}`;
    const reason = `Unsupported hosted tool kind '${kind}' for openai adapter: ${hint}`;
    return {
      reason,
      error: (promptName) => new PromptEvaluationError(reason, { promptName, phase: "render" }),
    };
  }
  const lack = capabilities.explainUnsupported(model, kind);
  if (lack === null) return null;
  const reason = `Hosted tool "${name}" cannot be used: ${lack}`;
  return {
    reason,
    error: (promptName) => new PromptEvaluationError(reason, { promptName, phase: "request" }),
  };
}

function checkNativeTools(
  { tools }: RenderedPrompt,
  supported: readonly HostedTool[],
  codecs: Codecs,
): void {
  const names = new Set(supported.map(({ name }) => name));
  for (const tool of tools) {
    const codec = tool instanceof NativeTool ? codecs.get(tool.kind) : undefined;
    if (!(tool instanceof NativeTool) || !codec || !names.has(tool.name)) continue;
    const problem = codec.nativeProblem?.(tool) ?? findNativeParamsProblem(tool, codec);
    if (problem !== null) throw new WinkError(problem);
  }
}

function serializeTool(codec: HostedToolCodec, tool: HostedTool, env: CodecEnv): WireTool {
  try {
    return codec.serialize(tool, env);
  } catch (cause) {
    if (cause instanceof WinkError) throw cause;
    const message = `The codec for "${tool.kind}" could not serialize "${tool.name}": ${getErrorMessage(cause)}`;
    throw new WinkError(message, { cause });
  }
}

/** The API ignores or rejects a function's fields on other tools, and has no type `built_in`. */
function checkEntry(entry: WireTool, { kind, name }: HostedTool): WireTool {
  const isOwn = isPlainObject(entry) && typeof entry.type === "string" && entry.type !== "";
  const isForeign = isOwn && (entry.type === "built_in" || entry.type === "function");
  if (isOwn && !isForeign && !("parameters" in entry) && !("strict" in entry)) return entry;
  throw new InvalidOptionError({
    field: `The entry that the codec for "${kind}" created for "${name}"`,
    value: Object.keys(Object(entry)),
    rule: "must be a hosted tool of the provider, without parameters or strict",
    remedy: 'return an object like { type: "web_search" } from serialize',
  });
}

/** A hosted tool whose code runs in a container at the provider. */
export interface ContainerTool {
  readonly tool: HostedTool;
  readonly container: CodeContainer;
}

/** Finds the tools whose code runs in containers. */
export function findContainerTools(
  tools: readonly HostedTool[],
  codecs: Codecs,
): readonly ContainerTool[] {
  return tools.flatMap((tool) => {
    const container = codecs.get(tool.kind)?.container?.(tool) ?? null;
    return container ? [{ tool, container }] : [];
  });
}

/**
 * Throws unless the prompt has one workspace, and a tool that runs code in its container. `forbidden` are such
 * tools that `allowHostedTools` has removed.
 */
export function checkWorkspaceTools(
  workspacePaths: readonly string[],
  tools: readonly ContainerTool[],
  forbidden: readonly ContainerTool[] = [],
): void {
  if (workspacePaths.length > 1) {
    throw new InvalidOptionError({
      field: "The prompt's container workspaces",
      value: workspacePaths,
      rule: "must be at most one, because code runs in one container",
      remedy: "move all mounts to one section",
    });
  }
  if (tools.length === 0) throw createMissingToolError(forbidden[0]?.tool.name);
  for (const { tool, container } of tools) checkSharesContainer(tool.name, container);
}

function createMissingToolError(forbidden: string | undefined): InvalidOptionError {
  const isForbidden = forbidden !== undefined;
  return new InvalidOptionError({
    field: "The prompt's container workspace",
    value: isForbidden
      ? `only ${forbidden}, which allowHostedTools forbids`
      : "no code interpreter",
    rule: "must be combined with a code interpreter or a hosted shell",
    remedy: isForbidden
      ? `include ${JSON.stringify(forbidden)} in the array allowHostedTools, or evaluate a prompt without the workspace`
      : codeToolRemedy,
  });
}

/** A tool with its own container does not see the workspace's files. */
function checkSharesContainer(name: string, { option, isChosen }: CodeContainer): void {
  if (!isChosen) return;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" config.${option}`,
    value: "a separate container",
    rule: "must be omitted with a container workspace, because the tool runs in its container",
    remedy: `omit ${option}, or remove the workspace`,
  });
}
