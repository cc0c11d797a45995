import { readRecord, readStringOrNull } from "../../base/json.ts";
import { redact, redactText } from "../../base/redact.ts";
import type { WireItem } from "../wire.ts";
import { isContainerRejection } from "./rejection.ts";
import { OpenAIRequestError } from "./request-error.ts";
import type { RequestContext } from "./request-failure.ts";

/**
 * Returns an error if a response with status 200 failed because its container expired; `null` if it
 * did not fail or failed for another reason.
 */
export function findContainerFailure(
  response: WireItem,
  context: Pick<RequestContext, "secrets">,
): OpenAIRequestError | null {
  const error = readFailure(response, context);
  return error && isContainerRejection(error) ? error : null;
}

/**
 * Returns an error if a response with status 200 failed because of its request: the container expired,
 * or the provider found the request invalid after it had started to stream. Otherwise returns `null`.
 */
export function findRejection(
  response: WireItem,
  context: Pick<RequestContext, "secrets">,
): OpenAIRequestError | null {
  const error = readFailure(response, context);
  if (!error) return null;
  return error.errorType === "invalid_request_error" || isContainerRejection(error) ? error : null;
}

function readFailure(
  response: WireItem,
  { secrets }: Pick<RequestContext, "secrets">,
): OpenAIRequestError | null {
  const error = readRecord(response, "error");
  const message = readStringOrNull(error, "message");
  if (response["status"] !== "failed" || message === null) return null;
  return new OpenAIRequestError(redactText(`The response failed: ${message}`, secrets), {
    reason: "status",
    code: readStringOrNull(error, "code"),
    param: readStringOrNull(error, "param"),
    errorType: readStringOrNull(error, "type"),
    body: redact(response, secrets),
  });
}
