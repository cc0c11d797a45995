import type { Omission } from "../../adapter/model-client.ts";
import { InvalidOptionError, messageOf, WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { suggestion } from "../../base/nearest.ts";
import { list } from "../../base/show.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkApart } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import type { CodeContainer, CodecEnv, Codecs, HostedToolCodec } from "../codecs/codec.ts";
import { codeToolRemedy } from "../hosted-tools-config.ts";
import type { AdapterSettings } from "../settings.ts";
import type { WireTool } from "../wire.ts";
import { nativeParamsProblem } from "./native-params.ts";

/** What of an adapter's settings hosted tools are checked against. */
export type ToolSupport = Pick<
  AdapterSettings,
  "model" | "codecs" | "capabilities" | "unsupported"
>;

/** Refuses what could not work; names what is to be left out. */
export function checkHostedTools(
  rendered: RenderedPrompt,
  support: ToolSupport,
): readonly Omission[] {
  const omissions: Omission[] = [];
  for (const tool of rendered.hostedTools) {
    const problem = unsupportedBecause(tool, support);
    if (problem === null) continue;
    if (support.unsupported === "error") throw problem.error(rendered.promptName);
    omissions.push({ tool, reason: problem.reason });
  }
  const out = new Set(omissions.map(({ tool }) => tool.name));
  const kept = rendered.hostedTools.filter(({ name }) => !out.has(name));
  checkApart(kept, rendered.promptName, (tool) => support.codecs.get(tool.kind)?.label?.(tool));
  checkNativeTools(rendered, kept, support.codecs);
  wireTools(kept, support.codecs, { model: support.model, containerId: null });
  return omissions;
}

/** The request's entries for hosted tools. Only what a codec made reaches the wire. */
export function wireTools(
  tools: readonly HostedTool[],
  codecs: Codecs,
  env: CodecEnv,
): readonly WireTool[] {
  return tools.flatMap((tool) => {
    const codec = codecs.get(tool.kind);
    return codec ? [checkEntry(serialized(codec, tool, env), tool)] : [];
  });
}

interface Unsupported {
  readonly reason: string;
  error(promptName: string): WinkError;
}

function unsupportedBecause(
  { kind, name }: HostedTool,
  { codecs, capabilities, model }: ToolSupport,
): Unsupported | null {
  if (!codecs.has(kind)) {
    const near = suggestion(kind, codecs.keys());
    const there = near ? `did you mean "${near}"?` : `there are ${list(codecs.keys())}`;
    const reason = `Unsupported hosted tool kind '${kind}' for openai adapter: ${there}`;
    return {
      reason,
      error: (promptName) => new PromptEvaluationError(reason, { promptName, phase: "render" }),
    };
  }
  const lack = capabilities.lacks(model, kind);
  if (lack === null) return null;
  const reason = `Hosted tool "${name}" cannot be used: ${lack}`;
  return {
    reason,
    error: (promptName) => new PromptEvaluationError(reason, { promptName, phase: "request" }),
  };
}

function checkNativeTools(
  { tools }: RenderedPrompt,
  kept: readonly HostedTool[],
  codecs: Codecs,
): void {
  const names = new Set(kept.map(({ name }) => name));
  for (const tool of tools) {
    const codec = tool instanceof NativeTool ? codecs.get(tool.kind) : undefined;
    if (!(tool instanceof NativeTool) || !codec || !names.has(tool.name)) continue;
    const problem = codec.nativeProblem?.(tool) ?? nativeParamsProblem(tool, codec);
    if (problem !== null) throw new WinkError(problem);
  }
}

function serialized(codec: HostedToolCodec, tool: HostedTool, env: CodecEnv): WireTool {
  try {
    return codec.serialize(tool, env);
  } catch (cause) {
    if (cause instanceof WinkError) throw cause;
    const message = `The codec of "${tool.kind}" could not serialise "${tool.name}": ${messageOf(cause)}`;
    throw new WinkError(message, { cause });
  }
}

/** The API ignores or refuses what belongs to functions, and knows no `built_in`. */
function checkEntry(entry: WireTool, { kind, name }: HostedTool): WireTool {
  const isOwn = isPlainObject(entry) && typeof entry.type === "string" && entry.type !== "";
  const isForeign = isOwn && (entry.type === "built_in" || entry.type === "function");
  if (isOwn && !isForeign && !("parameters" in entry) && !("strict" in entry)) return entry;
  throw new InvalidOptionError({
    field: `What the codec of "${kind}" made of "${name}"`,
    value: Object.keys(Object(entry)),
    rule: "must be an entry of the provider's own, without parameters or strict",
    remedy: 'return an object like { type: "web_search" } from serialize',
  });
}

/** A hosted tool whose code runs in a container at the provider. */
export interface ContainerTool {
  readonly tool: HostedTool;
  readonly container: CodeContainer;
}

/** The tools whose code runs in containers. */
export function codeContainers(
  tools: readonly HostedTool[],
  codecs: Codecs,
): readonly ContainerTool[] {
  return tools.flatMap((tool) => {
    const container = codecs.get(tool.kind)?.container?.(tool) ?? null;
    return container ? [{ tool, container }] : [];
  });
}

/** Checks what a prompt with a workspace needs: one workspace, and tools that run in its container. */
export function checkWorkspaceTools(
  workspacePaths: readonly string[],
  tools: readonly ContainerTool[],
): void {
  if (workspacePaths.length > 1) {
    throw new InvalidOptionError({
      field: "The prompt's container workspaces",
      value: workspacePaths,
      rule: "must be at most one, for code runs in one container",
      remedy: "put all mounts into one section",
    });
  }
  if (tools.length === 0) {
    throw new InvalidOptionError({
      field: "The prompt's container workspace",
      value: "no code interpreter",
      rule: "must have a code interpreter or a hosted shell beside it, by which the model uses it",
      remedy: codeToolRemedy,
    });
  }
  for (const { tool, container } of tools) checkSharesContainer(tool.name, container);
}

/** A tool with a container of its own does not see the workspace's files. */
function checkSharesContainer(name: string, { option, isChosen }: CodeContainer): void {
  if (!isChosen) return;
  throw new InvalidOptionError({
    field: `Hosted tool "${name}" config.${option}`,
    value: "a container of its own",
    rule: "must be left out beside a container workspace, whose container it runs in",
    remedy: `leave ${option} out, or the workspace`,
  });
}
