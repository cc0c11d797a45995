import { orAborted } from "../base/abort.ts";
import { messageOf } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { warn } from "../base/warn.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/render.ts";
import { OpenResources } from "../tools/open-resources.ts";
import { announce } from "./announce.ts";
import { type Evaluation, visibilityNow } from "./evaluation.ts";
import { feedbackNow } from "./feedback.ts";
import { Guard } from "./guard.ts";
import { type LoopOptions, type LoopSettings, loopSettings } from "./loop-options.ts";
import type { ModelClient, ToolAnswer, Turn, TurnRequest } from "./model-client.ts";
import { within } from "./nested-adapter.ts";
import { responseOf } from "./output.ts";
import { loadOverrides, preparePrompt } from "./prepare-prompt.ts";
import { Progress } from "./progress.ts";
import type { PromptResponse } from "./prompt-response.ts";
import { runHostedCall } from "./run-hosted-call.ts";
import { runToolCalls } from "./run-tool-calls.ts";
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
    return await session.lock.hold(() => converse(), {
      signal: guard.signal,
      within: settings[within],
    });
  } catch (error) {
    throw guard.explained(error);
  }

  async function converse(): Promise<PromptResponse<Output>> {
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
    };
    try {
      const turn = await takeTurns(evaluation, client, settings, progress);
      guard.enter("response");
      const response = await orAborted(responseOf(rendered, turn, progress), guard.signal);
      announceAnswer(evaluation, turn, progress);
      return response;
    } finally {
      await closeResources(resources, settings);
    }
  }
}

/** The loop: one request and what it calls, until a turn calls nothing. */
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
  let notes: readonly string[] = [];
  for (let number = 1; number <= settings.maxTurns; number++) {
    guard.enter("request");
    const next = { turn: number, answers, notes, toolChoice };
    const turn = await takeTurn(evaluation, client, settings, next);
    progress.add(turn);
    guard.record(turn.usage);
    for (const call of turn.hostedCalls) {
      progress.settle(call, await runHostedCall(call, evaluation, turn.usage));
    }
    if (turn.toolCalls.length === 0) return turn;
    notes = turn.hostedCalls.length > 0 ? notesOf(await feedbackNow(evaluation)) : [];
    guard.enter("tool");
    answers = await runToolCalls(turn.toolCalls, evaluation, turn.usage);
    toolChoice = choiceAfter(toolChoice, turn);
    evaluation = renderedAnew(evaluation, client, settings);
  }
  const message = `No answer after ${settings.maxTurns} turns: raise maxTurns or give a smaller task`;
  throw new PromptEvaluationError(message, { promptName: prompt.name, phase: "response" });
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
  const { rendered, clock, guard } = evaluation;
  const { signal, deadline } = guard;
  announce(evaluation, { type: "TurnStarted", turn: next.turn });
  const started = clock.now();
  const turn = await throttled(
    () => orAborted(client.send({ ...next, rendered, signal }), signal),
    { ...settings, signal, deadline },
  );
  const { text, toolCalls, hostedCalls, usage, requestId } = turn;
  const durationMs = clock.now() - started;
  const said = { text, toolCalls, hostedCalls, usage, durationMs, requestId };
  announce(evaluation, { type: "TurnCompleted", turn: next.turn, ...said });
  return turn;
}

function announceAnswer(
  evaluation: Evaluation,
  { text, finishReason }: Turn,
  progress: Progress,
): void {
  const { usage, model, turns } = progress;
  const requestIds = Object.freeze([...progress.requestIds]);
  const said = { text, usage, finishReason, model, requestIds, turns };
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
async function closeResources(resources: OpenResources, { logger }: LoopSettings): Promise<void> {
  try {
    await resources[Symbol.asyncDispose]();
  } catch (error) {
    logger.error("a resource failed to close", { error });
    warn("A resource failed to close", error);
  }
}
