import { maybeTextAt, recordAt } from "../../base/reading.ts";
import { scrubbed, scrubbedText } from "../../base/scrubbed.ts";
import type { WireItem } from "../wire.ts";
import { complaintAboutContainer } from "./complaint.ts";
import { OpenAIRequestError } from "./request-error.ts";
import type { RequestContext } from "./request-failure.ts";

/**
 * Returns an error if a response with status 200 failed because its container expired; `null` if it
 * did not fail or failed for another reason.
 */
export function failedContainer(
  response: WireItem,
  { secrets }: Pick<RequestContext, "secrets">,
): OpenAIRequestError | null {
  const error = recordAt(response, "error");
  const message = maybeTextAt(error, "message");
  if (response["status"] !== "failed" || message === null) return null;
  const code = maybeTextAt(error, "code");
  if (!complaintAboutContainer({ status: null, message, code })) return null;
  return new OpenAIRequestError(scrubbedText(`The response failed: ${message}`, secrets), {
    reason: "status",
    code,
    body: scrubbed(response, secrets),
  });
}
