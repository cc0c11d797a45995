import { WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { ContainerExpiredError } from "../errors/errors.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { readSecrets } from "../secrets.ts";

/** Checks that the caller's containers still exist, before a request that uses them fails. */
export async function checkContainers(
  ids: Iterable<string>,
  client: OpenAIClient,
  { promptName, signal }: { readonly promptName: string; readonly signal: AbortSignal },
): Promise<void> {
  for (const id of ids) {
    const status = await fetchContainerStatus(id, client, { promptName, signal });
    if (status === "expired" || status === "deleted") {
      throw createContainerGoneError(
        id,
        new WinkError(`its status is ${quoteValue(status)}`),
        promptName,
      );
    }
  }
}

/** Creates the error for a caller's container that no longer exists. It is never replaced. */
export function createContainerGoneError(
  id: string,
  why: unknown,
  promptName: string,
): PromptEvaluationError {
  const remedy = "create a new one and pass its id, or omit the id";
  const cause = new ContainerExpiredError(id, why, remedy);
  const requestError = why instanceof OpenAIRequestError ? why : null;
  return new PromptEvaluationError(cause.message, {
    promptName,
    phase: "request",
    cause,
    requestId: requestError?.requestId,
    providerPayload: requestError?.body,
  });
}

async function fetchContainerStatus(
  id: string,
  client: OpenAIClient,
  { promptName, signal }: { readonly promptName: string; readonly signal: AbortSignal },
): Promise<unknown> {
  try {
    const container: unknown = await client.containers.retrieve(id, { maxRetries: 0, signal });
    return isPlainObject(container) ? container["status"] : null;
  } catch (thrown) {
    const error = toRequestError(thrown, { signal, secrets: readSecrets(client) });
    const isGone = error.status === 404 && !/invalid url/i.test(error.message);
    throw isGone
      ? createContainerGoneError(id, error, promptName)
      : fromRequestError(error, promptName);
  }
}
