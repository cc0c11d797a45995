import { checkCallFence } from "../base/call-fence.ts";
import { raceAbort } from "../base/clock.ts";
import { getErrorMessage } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { shortenContent } from "../base/redact.ts";
import { warn } from "../base/warn.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { Session } from "../session/session.ts";
import { OpenResources } from "../tools/open-resources.ts";
import { collectFeedback } from "./calls/collect-feedback.ts";
import { runDelegatedCall, runHostedCall } from "./calls/run-hosted-call.ts";
import { runToolCalls } from "./calls/run-tool-calls.ts";
import { createResponse } from "./create-response.ts";
import { type Evaluation, Progress, readVisibility } from "./evaluation.ts";
import { publishEvent, type TurnCompleted } from "./events.ts";
import { Guard } from "./guard.ts";
import {
  type LoopOptions,
  type LoopSettings,
  resolveLoopSettings,
  wrapOptionError,
} from "./loop-options.ts";
import type { HostedCall, ModelClient, ToolAnswer, Turn, TurnRequest } from "./model-client.ts";
import { parentScope } from "./nested-adapter.ts";
import { loadOverrides, preparePrompt } from "./prepare-prompt.ts";
import type { PromptResponse } from "./prompt-response.ts";
import { retryThrottled } from "./throttle.ts";
import { relaxToolChoice, selectAllowedTools } from "./tool-choice.ts";
import { streamFeed } from "./turn-observer.ts";
import { TurnWatch } from "./turn-watch.ts";

/**
 * Runs a prompt: sends it to the model, runs its tool calls, and repeats until the model answers.
 * Used by every adapter.
 */
export async function evaluate<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  options: LoopOptions,
): Promise<PromptResponse<Output>> {
  const progress = new Progress();
  const settings = wrapOptionError(prompt, () => resolveLoopSettings(prompt, client, options));
  const guard = new Guard({ ...settings, promptName: prompt.name }, progress);
  const { session } = settings;
  try {
    guard.enter("request");
    checkCallFence("A nested evaluation");
    return await session.lock.runExclusive((isNested) => converse(isNested), {
      signal: guard.signal,
      parentScope: settings[parentScope],
    });
  } catch (error) {
    throw guard.toEvaluationError(error);
  }

  async function converse(isNested: boolean): Promise<PromptResponse<Output>> {
    guard.enter("render");
    await raceAbort(loadOverrides(prompt, client, settings), guard.signal);
    const rendered = preparePrompt(prompt, client, settings);
    const resources = new OpenResources(prompt.template.resources, settings.resources);
    const evaluation: Evaluation = {
      prompt,
      ...toRenderedFields(rendered, settings),
      adapter: settings.adapter,
      adapterName: client.adapterName,
      session,
      resources,
      guard,
      clock: settings.clock,
      logger: settings.logger,
      visibility: readVisibility({ session, prompt }),
      isNested,
    };
    try {
      const turn = await takeTurns(evaluation, client, settings, progress);
      guard.enter("response");
      const response = await raceAbort(
        createResponse(rendered, { turn, progress, client }),
        guard.signal,
      );
      await finishConversation(evaluation, client, progress);
      publishAnswer(evaluation, turn, progress);
      return addSession({ ...response, usage: progress.usage }, session);
    } catch (error) {
      const failure = guard.toEvaluationError(error);
      publishFailure(evaluation, failure, progress);
      throw failure;
    } finally {
      await closeQuietly("the conversation", () => client.end?.(), settings);
      await closeQuietly("a resource", () => resources[Symbol.asyncDispose](), settings);
    }
  }
}

/** Sends requests and runs the calls of each turn, until a turn has no calls and is the answer. */
async function takeTurns(
  first: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  progress: Progress,
): Promise<Turn> {
  const { guard, prompt } = first;
  let evaluation = first;
  let toolChoice = settings.toolChoice ?? "auto";
  let answers: readonly ToolAnswer[] = [];
  let delegatedResults: readonly HostedCall[] = [];
  let notes: readonly string[] = [];
  for (let number = 1; number <= settings.maxTurns; number++) {
    guard.enter("request");
    const next: NextTurn = {
      turn: number,
      input: number === 1 ? settings.input : [],
      answers,
      delegatedResults,
      notes,
      toolChoice,
    };
    const turn = await takeTurn(evaluation, client, settings, next);
    progress.add(turn);
    guard.record(turn.usage);
    for (const call of turn.hostedCalls) {
      progress.settleCall(call, await runHostedCall(call, evaluation, turn.usage));
    }
    delegatedResults = await runDelegatedCalls(turn, evaluation, progress);
    if (!turn.continues && turn.toolCalls.length + delegatedResults.length === 0) return turn;
    const isHosted = turn.hostedCalls.length + delegatedResults.length > 0;
    const hasFeedback = prompt.template.feedback.length > 0;
    notes = isHosted && hasFeedback ? toNotes(await collectFeedback(evaluation)) : [];
    guard.enter("tool");
    answers = await runToolCalls(turn.toolCalls, evaluation, turn.usage);
    if (toolChoice !== "auto") toolChoice = relaxToolChoice(toolChoice, turn, evaluation.rendered);
    evaluation = renderIfChanged(evaluation, client, settings);
  }
  const message = `No answer after ${settings.maxTurns} turns. Raise maxTurns or use a smaller task.`;
  throw new PromptEvaluationError(message, { promptName: prompt.name, phase: "response" });
}

/** The part of a request that changes from turn to turn. */
type NextTurn = Omit<TurnRequest, "rendered" | "signal" | "observer">;

/** Runs the calls that the provider delegates, one after the other. */
async function runDelegatedCalls(
  { delegatedCalls = [], usage }: Turn,
  evaluation: Evaluation,
  progress: Progress,
): Promise<readonly HostedCall[]> {
  const results: HostedCall[] = [];
  for (const delegated of delegatedCalls) {
    const settled = await runDelegatedCall(delegated, evaluation, usage);
    progress.addDelegated(settled);
    results.push(settled.call);
  }
  return results;
}

/** Renders the prompt again if the visibility of a section changed. The conversation continues. */
function renderIfChanged(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
): Evaluation {
  const visibility = readVisibility(evaluation);
  if (visibility === evaluation.visibility) return evaluation;
  evaluation.guard.enter("render");
  // The tool choice was checked at first. Its tools may be in sections that are closed now.
  const checked = { ...settings, toolChoice: "auto" } as const;
  const rendered = preparePrompt(evaluation.prompt, client, checked);
  return { ...evaluation, ...toRenderedFields(rendered, settings), visibility };
}

/** Leaves out the local tools that a restriction excludes, so that calls to them do not run. */
function toRenderedFields(rendered: RenderedPrompt, { toolChoice = "auto" }: LoopSettings) {
  const { tools } =
    typeof toolChoice === "object" ? selectAllowedTools(toolChoice, rendered) : rendered;
  return { rendered, tools: new Map(tools.map((tool) => [tool.name, tool])) };
}

function toNotes(feedback: string): readonly string[] {
  return feedback === "" ? [] : [feedback];
}

async function takeTurn(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  next: NextTurn,
): Promise<Turn> {
  const { rendered, clock, guard, isNested } = evaluation;
  const { signal, deadline } = guard;
  publishEvent(evaluation, { type: "TurnStarted", turn: next.turn });
  const started = clock.now();
  const feed = settings[streamFeed] ?? null;
  const isHeard = evaluation.session.bus.hears?.("TurnProgressed") ?? true;
  // Nothing is observed if there is neither a stream nor a listener when the turn starts.
  using observer =
    feed || isHeard ? new TurnWatch(evaluation, feed, { turn: next.turn, isHeard }) : null;
  const request = { ...next, rendered, signal, isNested, ...(observer && { observer }) };
  const attempt = async () => {
    observer?.onRestart();
    return await raceAbort(client.send(request), signal);
  };
  const turn = await retryThrottled(attempt, { ...settings, signal, deadline });
  observer?.onCompleted(turn);
  publishTurn(evaluation, turn, { turn: next.turn, durationMs: clock.now() - started });
  return turn;
}

/** Publishes `TurnCompleted`, together with the change of the session's stored conversation. */
function publishTurn(
  evaluation: Evaluation,
  { text, toolCalls, usage, requestId, history, ...turn }: Turn,
  numbers: Pick<TurnCompleted, "turn" | "durationMs">,
): void {
  const hostedCalls = turn.hostedCalls.map(shortenCall);
  const summary = { text, toolCalls, hostedCalls, usage, ...numbers, requestId };
  const completed = { type: "TurnCompleted", ...summary } as const;
  // The conversation of a nested evaluation is not stored in the session.
  const step = evaluation.isNested ? undefined : history;
  const advanced = { type: "HistoryAdvanced", turn: numbers.turn } as const;
  publishEvent(evaluation, completed, ...(step ? [{ ...advanced, ...step }] : []));
}

/** Returns a hosted call for events, without encrypted content and long base64 in the provider's item. */
function shortenCall(call: HostedCall): HostedCall {
  const raw = shortenContent(call.raw);
  if (raw === call.raw) return call;
  return Object.freeze({ ...call, raw, params: call.params === call.raw ? raw : call.params });
}

/** Lets the client work on the conversation after the answer. Only reports errors: the answer counts. */
async function finishConversation(
  evaluation: Evaluation,
  client: ModelClient,
  progress: Progress,
): Promise<void> {
  if (!client.finish) return;
  const { guard, isNested, logger } = evaluation;
  try {
    const { usage, history } = await client.finish({ signal: guard.signal });
    progress.addUsage(usage);
    guard.record(usage);
    if (!history || isNested) return;
    publishEvent(evaluation, { type: "HistoryAdvanced", turn: progress.turns, ...history });
  } catch (error) {
    logger.error("the conversation could not be finished after the answer", { error });
  }
}

function publishAnswer(
  evaluation: Evaluation,
  { text, finishReason }: Turn,
  progress: Progress,
): void {
  const { usage, model, turns } = progress;
  const requestIds = Object.freeze([...progress.requestIds]);
  const summary = { text, usage, finishReason, model, requestIds, turns, ...progress.getCost() };
  publishEvent(evaluation, { type: "PromptExecuted", ...summary });
}

/** Publishes `PromptFailed`. Only reports errors: the caller gets the error of the evaluation. */
function publishFailure(evaluation: Evaluation, error: unknown, { usage, turns }: Progress): void {
  const errorName = error instanceof Error ? error.name : typeof error;
  const phase = error instanceof PromptEvaluationError ? error.phase : null;
  const message = typeof error === "string" ? error : getErrorMessage(error);
  const summary = { errorName, message, phase, usage, turns };
  try {
    publishEvent(evaluation, { type: "PromptFailed", ...summary });
  } catch (problem) {
    evaluation.logger.error("PromptFailed could not be published", { error: problem });
  }
}

/** Adds the session to a response. It is not enumerable, because logs and JSON should omit it. */
function addSession<Output>(
  response: Omit<PromptResponse<Output>, "session">,
  session: Session,
): PromptResponse<Output> {
  const complete = Object.defineProperty(response, "session", { value: session });
  return Object.freeze(complete) as PromptResponse<Output>;
}

/** Closes a resource and only reports errors, so that the answer is not lost. */
async function closeQuietly(
  what: string,
  close: () => PromiseLike<void> | undefined,
  { logger }: LoopSettings,
): Promise<void> {
  try {
    await close();
  } catch (error) {
    logger.error(`${what} failed to close`, { error });
    warn(`${what.replace(/^./, (first) => first.toUpperCase())} failed to close`, error);
  }
}
