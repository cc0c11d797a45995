import { getErrorMessage } from "../../../base/errors.ts";
import { ApiProblem } from "../../api-problem.ts";
import { reportFault } from "../../report-fault.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { ConnectionDroppedError } from "../../turn/connection-dropped-error.ts";
import { applyIncludes } from "../check/apply-includes.ts";
import { createEndedResponse, toResponseError } from "../response-object.ts";
import type { ResponseRunner, StartedResponse } from "../started-response.ts";
import type { EventSink } from "./event-sink.ts";
import { EventSequence, type StreamEvent } from "./events.ts";

/** Services of {@link streamResponse}. */
export interface StreamServices {
  readonly responses: Pick<ResponseRunner, "finish">;
  readonly catalog: ToolCatalog;
  /** Called with unexpected errors that occur after the stream has started. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Runs the turn of a started response and writes its events as they occur. Resolves when the first events are
 * being written. Rejects if the turn fails before its first step runs: then nothing was written. The turn waits
 * while the client does not read, and ends if it disconnects.
 */
export async function streamResponse(
  started: StartedResponse,
  { responses, catalog, onFault }: StreamServices,
  sink: EventSink,
): Promise<void> {
  const sequence = new EventSequence(catalog);
  const { include } = started.request;
  const last: StreamEvent[] = [];
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
  const turn = responses.finish(started, sink.signal, {
    async onBegin() {
      onBegun();
      sink.keepAlive?.(() => sequence.createKeepAlive());
      await sink.write(sequence.createStart(started.response));
    },
    onStart: (call) => sink.write(sequence.createItemStart(applyIncludes(call, include, catalog))),
    onText: (text) => sink.write(sequence.createText(text)),
    onItem: (item) => sink.write(sequence.createItem(applyIncludes(item, include, catalog))),
    onProblem(problem) {
      last.push(sequence.createProblem(problem));
    },
  });
  await Promise.race([begun, turn]);
  turn.then(
    (response) => sink.end([...last, sequence.createEnd(response)]),
    (error) => {
      const isProblem = error instanceof ApiProblem;
      if (sink.signal.aborted && !isProblem) return sink.abort(error);
      if (error instanceof ConnectionDroppedError) return sink.abort(error);
      reportFault(error, onFault);
      const problem = isProblem ? error : new ApiProblem(500, getErrorMessage(error));
      const ended = { status: "failed", output: [], error: toResponseError(problem) } as const;
      const failed = createEndedResponse(started, ended, catalog);
      sink.end([sequence.createProblem(problem), sequence.createEnd(failed)]);
    },
  );
}
