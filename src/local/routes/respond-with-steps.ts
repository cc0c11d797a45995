import type { Clock } from "../../base/clock.ts";
import type { WireItem } from "../../openai/wire.ts";
import { KEEP_ALIVE_COMMENT, PacedBody } from "../http/paced-body.ts";
import type { RouteContext } from "../http/route-context.ts";
import { applyIncludes } from "../responses/check/apply-includes.ts";
import {
  EventSequence,
  formatEvent,
  type ResponseStep,
  type StreamEvent,
} from "../responses/events/events.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import { ConnectionDroppedError } from "../turn/connection-dropped-error.ts";

/** Options of {@link respondWithSteps}. */
export interface StepsOptions {
  readonly catalog: ToolCatalog;
  readonly clock: Clock;
  /** The sequence number of the last event that the client has. @default -1: none */
  readonly startingAfter?: number | undefined;
  /** Headers in addition to those of every stream. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Streams the events of a response whose steps are stored, or become known while it runs. Events that the client
 * already has are created again and not sent, so that all others have the same numbers as in the first stream.
 */
export function respondWithSteps(
  context: RouteContext,
  read: (signal: AbortSignal) => AsyncIterable<ResponseStep> | Iterable<ResponseStep>,
  { catalog, clock, startingAfter = -1, headers = {} }: StepsOptions,
): Response {
  const body = new PacedBody(context.req.raw.signal);
  body.keepAlive(clock, () => KEEP_ALIVE_COMMENT); // an event would change the numbers of those that follow
  const sequence = new EventSequence(catalog);
  const write = async () => {
    for await (const step of read(body.signal))
      await body.write(skipEvents(sequence.createStep(step), startingAfter), formatEvent);
  };
  write().then(
    () => body.close(),
    (error) => {
      if (error instanceof ConnectionDroppedError) body.abortWhenRead(error);
      else body.abort(error);
    },
  );
  const stream = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  };
  return new Response(body.stream, { headers: { ...headers, ...stream } });
}

/** Shows the items of a running response, and its end, with the fields that `include` selects. */
export async function* showSteps(
  steps: AsyncIterable<ResponseStep>,
  include: ReadonlySet<string>,
  catalog: ToolCatalog,
): AsyncGenerator<ResponseStep, void, undefined> {
  const items: WireItem[] = [];
  for await (const step of steps) {
    if ("item" in step) {
      const item = applyIncludes(step.item, include, catalog);
      items.push(item);
      yield { item };
    } else if ("start" in step) yield { start: applyIncludes(step.start, include, catalog) };
    else if ("end" in step) {
      const output = step.end["status"] === "cancelled" ? [] : items;
      yield { end: { ...step.end, output } };
    } else yield step;
  }
}

function* skipEvents(events: Iterable<StreamEvent>, last: number): Generator<StreamEvent> {
  for (const event of events) if (event.sequence_number > last) yield event;
}
