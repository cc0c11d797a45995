import { ApiProblem } from "../api-problem.ts";

/**
 * Creates the error for a path that is not served. For a path of OpenAI's or Anthropic's API, it says what is
 * missing and what to use instead.
 */
export function createUnservedProblem(method: string, path: string): ApiProblem {
  const message = `Invalid URL (${method} ${path})`;
  const hint = findHint(path);
  if (hint === null) return new ApiProblem(404, message);
  return new ApiProblem(404, `${message}. ${hint}`, { code: "unsupported_endpoint" });
}

function findHint(path: string): string | null {
  if (path.startsWith("/v1/v1/"))
    return "The path has '/v1' twice. Use a base URL without '/v1' for Anthropic's SDKs.";
  if (/^\/(?:responses|chat\/completions|files|containers|vector_stores|models)(?:\/|$)/.test(path))
    return "Use a base URL that ends in '/v1'.";
  const [, first = "", second = ""] = /^\/v1\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? [];
  const found = UNSERVED.get(`${first}/${second}`) ?? UNSERVED.get(first);
  return found ? `This server does not serve ${found[0]}. ${found[1]}` : null;
}

const USE_RESPONSES = "Use POST /v1/responses.";
const USE_OTHER_SERVER = "Send the request to OpenAI.";

/** What is not served, and the remedy, by the first parts of the path after `/v1/`. */
const UNSERVED: ReadonlyMap<string, readonly [what: string, remedy: string]> = new Map([
  ["assistants", ["the Assistants API", USE_RESPONSES]],
  ["audio", ["speech and transcription", USE_OTHER_SERVER]],
  ["batches", ["batches", "Send each request on its own."]],
  ["complete", ["Anthropic's text completions", "Use POST /v1/messages."]],
  ["completions", ["legacy completions", "Use POST /v1/responses or POST /v1/chat/completions."]],
  ["embeddings", ["embeddings", "Use vector stores to search in files: POST /v1/vector_stores."]],
  ["evals", ["evals", USE_OTHER_SERVER]],
  ["fine_tuning", ["fine-tuning", USE_OTHER_SERVER]],
  ["images", ["image generation", USE_OTHER_SERVER]],
  ["messages/batches", ["message batches", "Send each request to POST /v1/messages."]],
  ["moderations", ["moderations", USE_OTHER_SERVER]],
  ["organization", ["the administration API", USE_OTHER_SERVER]],
  ["realtime", ["the Realtime API", USE_RESPONSES]],
  ["skills", ["skills", USE_OTHER_SERVER]],
  ["threads", ["the Assistants API", USE_RESPONSES]],
  ["videos", ["video generation", USE_OTHER_SERVER]],
]);
