import { maybeTextAt, recordAt } from "../../base/reading.ts";
import { scrubbed, scrubbedText } from "../../base/scrubbed.ts";
import type { WireItem } from "../wire.ts";
import { complaintAboutContainer } from "./complaint.ts";
import { OpenAIRequestError } from "./request-error.ts";
import type { RequestContext } from "./request-failure.ts";

/**
 * What a container's death is where it came within an answer that had begun: the status is 200, and
 * the response says that it failed. `null` if it did not, or for another reason.
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
