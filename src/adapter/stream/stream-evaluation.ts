import type { EvaluablePrompt, Prompt } from "../../prompt/prompt.ts";
import { Session } from "../../session/session.ts";
import type { EvaluationStream } from "../evaluation-stream.ts";
import type { NestedOptions } from "../nested-adapter.ts";
import type { PromptResponse } from "../prompt-response.ts";
import type { EvaluateOptions } from "../provider-adapter.ts";
import { streamFeed } from "../turn-observer.ts";
import { EventLog } from "./event-log.ts";
import { RunningEvaluation } from "./running-evaluation.ts";

/**
 * Starts an evaluation and returns its stream, for the `stream` method of your own adapter. `run`
 * evaluates the prompt with the options that it receives, usually by calling the adapter's
 * `evaluate`.
 *
 * @example
 * ```ts
 * import { type EvaluateOptions, type Prompt, type ProviderAdapter, streamEvaluation } from "weakincentives";
 *
 * declare const adapter: ProviderAdapter;
 * const stream = (prompt: Prompt<string>, options?: EvaluateOptions) =>
 *   streamEvaluation(prompt, options, (given) => adapter.evaluate(prompt, given));
 * ```
 */
export function streamEvaluation<Output, State extends string = string>(
  prompt: EvaluablePrompt<Output, State>,
  options: EvaluateOptions | undefined,
  run: (options: EvaluateOptions) => Promise<PromptResponse<Output>>,
): EvaluationStream<Output> {
  const log = new EventLog<Output>();
  const stop = new AbortController();
  const response = runToEnd(log, stop, { options: options ?? {}, run });
  response.catch(() => {}); // the caller may only read events
  const contract = (prompt as Prompt | undefined)?.template?.output ?? null;
  return new RunningEvaluation({ log, stop, response, contract });
}

/** Runs the evaluation, and records its events. Errors, also of options, are the log's outcome. */
async function runToEnd<Output>(
  log: EventLog<Output>,
  stop: AbortController,
  { options, run }: Start<Output>,
): Promise<PromptResponse<Output>> {
  try {
    const connected = connectOptions(options, log, stop);
    using _recording = recordBus(connected.session, log);
    using _following = followSignal(options.signal, stop);
    const response = await run(connected);
    log.end({ response });
    return response;
  } catch (error) {
    log.end({ error });
    throw error;
  }
}

interface Start<Output> {
  readonly options: EvaluateOptions;
  readonly run: (options: EvaluateOptions) => Promise<PromptResponse<Output>>;
}

/**
 * Connects options to a log and to a controller. Wrong options stay as they are, so that `evaluate`
 * reports them.
 */
function connectOptions(
  options: EvaluateOptions,
  log: EventLog,
  stop: AbortController,
): NestedOptions {
  if (typeof options !== "object" || Array.isArray(options)) return options;
  const { session = new Session(), signal } = options;
  const isFollowed = signal === undefined || signal instanceof AbortSignal;
  return { ...options, session, signal: isFollowed ? stop.signal : signal, [streamFeed]: log };
}

function recordBus(session: unknown, log: EventLog): Disposable | null {
  if (!(session instanceof Session)) return null;
  return session.bus.subscribe("*", (event) => log.append({ type: "bus", event }));
}

/** Aborts `stop` with the reason of `signal`. */
function followSignal(signal: unknown, stop: AbortController): Disposable | null {
  if (!(signal instanceof AbortSignal)) return null;
  const onAbort = () => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", onAbort) };
}
