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
  { secrets }: Pick<RequestContext, "secrets">,
): OpenAIRequestError | null {
  const error = readRecord(response, "error");
  const message = readStringOrNull(error, "message");
  if (response["status"] !== "failed" || message === null) return null;
  const code = readStringOrNull(error, "code");
  if (!isContainerRejection({ status: null, message, code })) return null;
  return new OpenAIRequestError(redactText(`The response failed: ${message}`, secrets), {
    reason: "status",
    code,
    body: redact(response, secrets),
  });
}
