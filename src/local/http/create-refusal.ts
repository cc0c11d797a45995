import type { IncomingMessage } from "node:http";
import type { ApiProblem } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import { toAnthropicProblem } from "../messages/anthropic-problem.ts";
import { BufferedResponse } from "./buffered-response.ts";
import { isAnthropicRequest } from "./is-anthropic-request.ts";
import type { RequestLog } from "./request-log.ts";

/** Services of {@link createRefusal}. */
export interface RefusalServices {
  readonly ids: Ids;
  /** Reports every request; `null` if no one listens. */
  readonly log: RequestLog | null;
}

/** Creates the response to a request that no route may see, in the error format of the requested API. */
export function createRefusal(
  { method = "GET", url = "/", headers }: IncomingMessage,
  problem: ApiProblem,
  { ids, log }: RefusalServices,
): BufferedResponse {
  const { status, body } = problem;
  const entry = log?.start(method, url);
  entry?.addAnswer(body);
  entry?.end({ status, isStream: false, outcome: "complete" });
  const [path = "/"] = url.split(/[?#]/, 1);
  const header = (name: string) => headers[name]?.toString();
  const id = ids.next("req_");
  const isAnthropic = isAnthropicRequest({ path, header });
  const answer = isAnthropic ? toAnthropicProblem(problem, id) : body;
  return new BufferedResponse(
    JSON.stringify(answer),
    {
      ...problem.headers,
      "content-type": "application/json",
      [isAnthropic ? "request-id" : "x-request-id"]: id,
    },
    status,
  );
}
