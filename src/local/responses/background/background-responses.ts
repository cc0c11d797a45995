import { raceAbort } from "../../../base/clock.ts";
import { getErrorMessage } from "../../../base/errors.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem, toEventError } from "../../api-problem.ts";
import { reportFault } from "../../report-fault.ts";
import type { ResponseStore } from "../../store/response-store.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { applyIncludes } from "../check/apply-includes.ts";
import type { Conversations } from "../conversation/conversations.ts";
import { createEndedResponse, type EndedResponse, toResponseError } from "../response-object.ts";
import type { ResponseRunner, StartedResponse } from "../started-response.ts";
import { RunningResponse } from "./running-response.ts";

/** Options of {@link BackgroundResponses}. */
export interface BackgroundOptions {
  readonly responses: Pick<ResponseRunner, "finish">;
  readonly conversations: Pick<Conversations, "lock" | "store" | "storeRunning">;
  readonly store: Pick<ResponseStore, "isRunning">;
  readonly catalog: ToolCatalog;
  /** Called with unexpected errors. */
  readonly onFault: (error: unknown) => void;
}

/** The maximum number of responses that run in the background at the same time. */
const MAX_RUNNING = 256;

/**
 * The responses that run without their connection. A response is stored when it starts and again when it ends, and
 * is in memory only meanwhile.
 */
export class BackgroundResponses implements AsyncDisposable {
  readonly #options: BackgroundOptions;
  readonly #running = new Map<
    string,
    { readonly run: RunningResponse; readonly end: Promise<void> }
  >();

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  /** Starts the turn of a response and stores the response as queued. */
  start(started: StartedResponse): RunningResponse {
    if (this.#running.size >= MAX_RUNNING) throw createLimitProblem();
    const { conversations } = this.#options;
    const { request, response, conversation } = started;
    conversations.lock(conversation)?.[Symbol.dispose](); // throws now what the turn would throw
    conversations.storeRunning({ response, include: request.include, conversation });
    const run = new RunningResponse(started);
    this.#running.set(String(response["id"]), { run, end: this.#finish(run) });
    return run;
  }

  /** Returns a response that is running, or `undefined`. */
  find(id: string): RunningResponse | undefined {
    return this.#running.get(id)?.run;
  }

  /** Cancels a response if it is running. Resolves when it is stored. */
  async cancel(id: string): Promise<void> {
    const running = this.#running.get(id);
    // A response that was just stored has ended, although it is still in the map.
    if (this.#options.store.isRunning(id)) running?.run.cancel();
    await running?.end;
  }

  /** Ends all responses. They are stored as failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { store } = this.#options;
    for (const [id, { run }] of this.#running)
      if (store.isRunning(id)) run.abort(createClosedProblem());
    await Promise.all([...this.#running.values()].map(({ end }) => end));
  }

  /** Runs the turn. Never rejects. Does not wait for a turn that was aborted: a tool may ignore the signal. */
  async #finish(run: RunningResponse): Promise<void> {
    const { started, signal } = run;
    const turn = this.#options.responses.finish(started, signal, {
      onStart: (start) => run.add({ start }),
      onText: (text) => run.add({ text }),
      onItem: (item) => run.add({ item }),
      onProblem: (problem) => run.add({ problem }),
      onDrop: () => run.drop(),
    });
    const response = await raceAbort(turn, signal).catch((error) => this.#storeEnded(run, error));
    this.#running.delete(String(response["id"]));
    run.add({ end: response });
  }

  /** Stores a response whose turn did not finish. Returns it. */
  #storeEnded(run: RunningResponse, error: unknown): WireItem {
    const { conversations, catalog, onFault } = this.#options;
    const { started, items, open } = run;
    const { request, conversation } = started;
    const { include } = request;
    const store = (ended: EndedResponse, replay: WireItem) => {
      const response = createEndedResponse(started, ended, catalog);
      const output = ended.output.length === 0 ? [] : items;
      try {
        conversations.store({ response, output, include, replay, conversation });
      } catch (fault) {
        onFault(fault);
      }
      return response;
    };
    if (run.isCancelled)
      return store({ status: "cancelled", output: [], error: null }, { items, open });
    reportFault(error, onFault);
    const problem =
      error instanceof ApiProblem ? error : new ApiProblem(500, getErrorMessage(error));
    run.add({ problem });
    const output = items.map((item) => applyIncludes(item, include, catalog));
    const failed = { status: "failed", output, error: toResponseError(problem) } as const;
    return store(failed, { problem: toEventError(problem), open });
  }
}

function createLimitProblem(): ApiProblem {
  const message = `Rate limit reached: ${MAX_RUNNING} responses are running in the background. Wait until one has finished, or cancel one.`;
  return new ApiProblem(429, message, { type: "requests", code: "rate_limit_exceeded" });
}

/** The error of responses that the shutdown ended. It has no code: OpenAI's code for a failed response is `server_error`. */
function createClosedProblem(): ApiProblem {
  return new ApiProblem(500, "The local provider was closed before the response was complete.");
}
