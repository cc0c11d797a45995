import { WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { show } from "../../base/show.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
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
