import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { show } from "../../base/show.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { CodeContainer, Codecs } from "../codecs/codec.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import { codeToolRemedy } from "../hosted-tools-config.ts";
import type { OpenAIClient } from "../http/client.ts";
import { secretsOf } from "../secrets.ts";

/** Asks once whether the caller's containers are there: a request that names a dead one is wasted. */
export async function checkContainers(
  ids: Iterable<string>,
  client: OpenAIClient,
  { promptName, signal }: { readonly promptName: string; readonly signal: AbortSignal },
): Promise<void> {
  for (const id of ids) {
    const status = await statusOf(id, client, { promptName, signal });
    if (status === "expired" || status === "deleted") {
      throw containerGone(id, new WinkError(`its status is ${show(status)}`), promptName);
    }
  }
}

/** What the caller gets for a container of theirs that is no more; it is never replaced. */
export function containerGone(id: string, why: unknown, promptName: string): PromptEvaluationError {
  const remedy = "make a new one and give its id, or leave the id out";
  const cause = new ContainerExpiredError(id, why, remedy);
  const told = why instanceof OpenAIRequestError ? why : null;
  return new PromptEvaluationError(cause.message, {
    promptName,
    phase: "request",
    cause,
    requestId: told?.requestId,
    providerPayload: told?.body,
  });
}

async function statusOf(
  id: string,
  client: OpenAIClient,
  { promptName, signal }: { readonly promptName: string; readonly signal: AbortSignal },
): Promise<unknown> {
  try {
    const container: unknown = await client.containers.retrieve(id, { maxRetries: 0, signal });
    return isPlainObject(container) ? container["status"] : null;
  } catch (thrown) {
    const error = requestErrorFrom(thrown, { signal, secrets: secretsOf(client) });
    const isGone = error.status === 404 && !/invalid url/i.test(error.message);
    throw isGone ? containerGone(id, error, promptName) : evaluationErrorOf(error, promptName);
  }
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
