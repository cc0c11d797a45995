import { orAborted } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { warn } from "../base/warn.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { OpenResources } from "../tools/open-resources.ts";
import { feedbackNow } from "./calls/feedback.ts";
import { runAskedCall, runHostedCall } from "./calls/run-hosted-call.ts";
import { runToolCalls } from "./calls/run-tool-calls.ts";
import { type Evaluation, Progress, visibilityNow } from "./evaluation.ts";
import { announce } from "./events.ts";
import { Guard } from "./guard.ts";
import { type LoopOptions, type LoopSettings, loopSettings } from "./loop-options.ts";
import type { HostedCall, ModelClient, ToolAnswer, Turn, TurnRequest } from "./model-client.ts";
import { within } from "./nested-adapter.ts";
import { responseOf } from "./output.ts";
import { loadOverrides, preparePrompt } from "./prepare-prompt.ts";
import type { PromptResponse } from "./provider-adapter.ts";
import { throttled } from "./throttle.ts";
import { choiceAfter } from "./tool-choice.ts";

/** Asks the model, runs what it calls, asks again until it answers. Every adapter uses this. */
export async function evaluate<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  options: LoopOptions,
): Promise<PromptResponse<Output>> {
  const progress = new Progress();
  const settings = checked(prompt, client, options);
  const guard = new Guard({ ...settings, promptName: prompt.name }, progress);
  const { session } = settings;
  try {
    guard.enter("request");
    return await session.lock.hold((isNested) => converse(isNested), {
      signal: guard.signal,
      within: settings[within],
    });
  } catch (error) {
    throw guard.explained(error);
  }

  async function converse(isNested: boolean): Promise<PromptResponse<Output>> {
    guard.enter("render");
    await orAborted(loadOverrides(prompt, client, settings), guard.signal);
    const rendered = preparePrompt(prompt, client, settings);
    const resources = new OpenResources(prompt.template.resources, settings.resources);
    const evaluation: Evaluation = {
      prompt,
      ...renderedParts(rendered),
      adapter: settings.adapter,
      adapterName: client.adapterName,
      session,
      resources,
      guard,
      clock: settings.clock,
      logger: settings.logger,
      visibility: visibilityNow({ session, prompt }),
      isNested,
    };
    try {
      const turn = await takeTurns(evaluation, client, settings, progress);
      guard.enter("response");
      const response = await orAborted(
        responseOf(rendered, { turn, progress, client }),
        guard.signal,
      );
      announceAnswer(evaluation, turn, progress);
      return response;
    } finally {
      await closed("the conversation", () => client.end?.(), settings);
      await closed("a resource", () => resources[Symbol.asyncDispose](), settings);
    }
  }
}

/** The loop: one request and what it calls, until a turn calls nothing and is an answer. */
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
  let performed: readonly HostedCall[] = [];
  let notes: readonly string[] = [];
  for (let number = 1; number <= settings.maxTurns; number++) {
    guard.enter("request");
    const next = { turn: number, answers, performed, notes, toolChoice };
    const turn = await takeTurn(evaluation, client, settings, next);
    progress.add(turn);
    guard.record(turn.usage);
    for (const call of turn.hostedCalls) {
      progress.settle(call, await runHostedCall(call, evaluation, turn.usage));
    }
    performed = await performCalls(turn, evaluation, progress);
    if (!turn.goesOn && turn.toolCalls.length + performed.length === 0) return turn;
    const isHosted = turn.hostedCalls.length + performed.length > 0;
    const hasFeedback = prompt.template.feedback.length > 0;
    notes = isHosted && hasFeedback ? notesOf(await feedbackNow(evaluation)) : [];
    guard.enter("tool");
    answers = await runToolCalls(turn.toolCalls, evaluation, turn.usage);
    if (toolChoice !== "auto") toolChoice = choiceAfter(toolChoice, turn);
    evaluation = renderedAnew(evaluation, client, settings);
  }
  const message = `No answer after ${settings.maxTurns} turns: raise maxTurns or give a smaller task`;
  throw new PromptEvaluationError(message, { promptName: prompt.name, phase: "response" });
}

/** Runs here what the provider asks of hosted tools, one call after the other. */
async function performCalls(
  { askedCalls = [], usage }: Turn,
  evaluation: Evaluation,
  progress: Progress,
): Promise<readonly HostedCall[]> {
  const performed: HostedCall[] = [];
  for (const asked of askedCalls) {
    const call = await runAskedCall(asked, evaluation, usage);
    progress.perform(call);
    performed.push(call);
  }
  return performed;
}

/** The prompt as it reads now, if a section was opened or closed; the conversation goes on. */
function renderedAnew(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
): Evaluation {
  const visibility = visibilityNow(evaluation);
  if (visibility === evaluation.visibility) return evaluation;
  evaluation.guard.enter("render");
  const rendered = preparePrompt(evaluation.prompt, client, settings);
  return { ...evaluation, ...renderedParts(rendered), visibility };
}

function renderedParts(rendered: RenderedPrompt) {
  return { rendered, tools: new Map(rendered.tools.map((tool) => [tool.name, tool])) };
}

function notesOf(feedback: string): readonly string[] {
  return feedback === "" ? [] : [feedback];
}

async function takeTurn(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  next: Omit<TurnRequest, "rendered" | "signal">,
): Promise<Turn> {
  const { rendered, clock, guard, isNested } = evaluation;
  const { signal, deadline } = guard;
  announce(evaluation, { type: "TurnStarted", turn: next.turn });
  const started = clock.now();
  const turn = await throttled(
    () => orAborted(client.send({ ...next, rendered, signal, isNested }), signal),
    { ...settings, signal, deadline },
  );
  const { text, toolCalls, hostedCalls, usage, requestId } = turn;
  const durationMs = clock.now() - started;
  const said = { text, toolCalls, hostedCalls, usage, durationMs, requestId };
  // The conversation of a handler's own evaluation is not the session's.
  const history = turn.history && !isNested ? { history: turn.history } : {};
  announce(evaluation, { type: "TurnCompleted", turn: next.turn, ...said, ...history });
  return turn;
}

function announceAnswer(
  evaluation: Evaluation,
  { text, finishReason }: Turn,
  progress: Progress,
): void {
  const { usage, model, turns } = progress;
  const requestIds = Object.freeze([...progress.requestIds]);
  const said = { text, usage, finishReason, model, requestIds, turns, ...progress.cost() };
  announce(evaluation, { type: "PromptExecuted", ...said });
}

/** The caller's mistake, as one of the errors that one catch is for. */
function checked(prompt: Prompt, client: ModelClient, options: LoopOptions): LoopSettings {
  try {
    return loopSettings(prompt, client, options);
  } catch (cause) {
    const promptName = String(prompt?.name ?? "");
    throw new PromptEvaluationError(messageOf(cause), { promptName, phase: "request", cause });
  }
}

/** An answer that was had is not lost because something would not close. */
async function closed(
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
