import type { WireItem } from "../../../openai/wire.ts";
import type { EventError } from "../../api-problem.ts";
import type { OpenStep, ResponseStep } from "./events.ts";

/** What the stream of a response showed and the finished response does not. */
export interface Replay {
  /** The tools at the start, if the finished response names their container. */
  readonly tools?: unknown;
  /** The error event before the end. */
  readonly problem?: EventError | undefined;
  /** The items of a cancelled response, which has no output. */
  readonly items?: readonly WireItem[] | undefined;
  /** The item that the response had started when it ended. */
  readonly open?: readonly OpenStep[] | undefined;
}

/** A finished response as clients see it. */
export type ResponseWithOutput = WireItem & { readonly output: readonly WireItem[] };

/**
 * Returns the steps of a finished response. Their events are those of its first stream: they depend only on the
 * response, so no events are stored.
 */
export function createReplaySteps(
  response: ResponseWithOutput,
  { tools = response["tools"], problem, items = response.output, open = [] }: Replay,
): readonly ResponseStep[] {
  const begin = {
    ...response,
    status: response["background"] === true ? "queued" : "in_progress",
    completed_at: null,
    error: null,
    incomplete_details: null,
    tools,
    output: [],
    usage: null,
  };
  return [
    { begin },
    ...items.map((item) => ({ item })),
    ...open,
    ...(problem ? [{ problem }] : []),
    { end: response },
  ];
}
