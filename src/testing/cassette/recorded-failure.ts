import type { RecordedFailure } from "./recorded-exchange.ts";
import type { Scrubber } from "./scrubber.ts";

const MAX_CAUSES = 4;

/** Describes an error that `fetch` or a stream threw, without secrets. */
export function toRecordedFailure(thrown: unknown, scrubber: Scrubber, depth = 0): RecordedFailure {
  if (!(thrown instanceof Error))
    return { name: "Error", message: scrubber.cleanText(String(thrown)) };
  const { name, message, cause } = thrown;
  const hasCause = cause !== undefined && depth < MAX_CAUSES;
  return {
    name,
    message: scrubber.cleanText(message),
    ...("code" in thrown &&
      typeof thrown.code === "string" && { code: scrubber.cleanText(thrown.code) }),
    ...(hasCause && { cause: toRecordedFailure(cause, scrubber, depth + 1) }),
  };
}

/** Creates an error like the recorded one. */
export function createFailure({ name, message, code, cause }: RecordedFailure): Error {
  const options = cause === undefined ? {} : { cause: createFailure(cause) };
  const error =
    name === "TypeError" ? new TypeError(message, options) : new Error(message, options);
  if (error.name !== name) Object.defineProperty(error, "name", { value: name });
  return code === undefined ? error : Object.assign(error, { code });
}

/** The headers of responses that are recorded. All others may contain secrets, or belong to the connection. */
const RESPONSE_HEADERS =
  /^(?:content-disposition|content-type|location|openai-(?:model|processing-ms|version)|request-id|retry-after(?:-ms)?|x-request-id|x-should-retry|(?:anthropic|x)-ratelimit-[\w-]+)$/;

/** Copies the headers of a response that are recorded, without secrets. */
export function copyWithoutSecrets(
  headers: Headers,
  scrubber: Scrubber,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => RESPONSE_HEADERS.test(name))
      .map(([name, value]) => [
        name,
        name === "location" ? scrubber.cleanUrl(value) : scrubber.cleanText(value),
      ]),
  );
}
