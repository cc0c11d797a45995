import { checkCallFence } from "../base/call-fence.ts";
import { raceAbort } from "../base/clock.ts";
import { CostMeter } from "../base/costs/cost-meter.ts";
import { createLazyField } from "../base/freeze.ts";
import { warn } from "../base/warn.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { runObserved } from "../session/event-bus.ts";
import { type StoredSession, storedSession } from "../session/stored-session.ts";
import { OpenResources } from "../tools/open-resources.ts";
import { createResponse } from "./create-response.ts";
import type { EgressReport } from "./egress/egress-report.ts";
import { type EgressReader, publishEgress, readEgress } from "./egress/read-egress.ts";
import {
  type Evaluation,
  Progress,
  readVisibility,
  toRenderedFields,
  UnstoredKeys,
} from "./evaluation.ts";
import { Guard } from "./guard.ts";
import {
  type LoopOptions,
  type LoopSettings,
  lockPlace,
  resolveLoopSettings,
  wrapOptionError,
} from "./loop-options.ts";
import type { ModelClient } from "./model-client.ts";
import { parentScope } from "./nested-adapter.ts";
import {
  loadOverrides,
  PreparedSections,
  preparePrompt,
  renderForClient,
} from "./prepare-prompt.ts";
import type { PromptResponse } from "./prompt-response.ts";
import { onBarrier, passBarrier } from "./resume/barrier.ts";
import { deliverAnswer } from "./turns/deliver-answer.ts";
import { finishConversation, publishAnswer, publishFailure } from "./turns/publish-answer.ts";
import {
  type EvaluationStart,
  findStart,
  findStoredAnswer,
  readStoredAnswer,
  type StoredAnswer,
  startEvaluation,
} from "./turns/start-evaluation.ts";
import { takeTurns } from "./turns/take-turns.ts";

/**
 * Runs a prompt: sends it to the model, runs its tool calls, and repeats until the model answers.
 * Used by every adapter.
 */
export async function evaluate<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  options: LoopOptions,
): Promise<PromptResponse<Output>> {
  const settings = wrapOptionError(prompt, () => resolveLoopSettings(prompt, client, options));
  const { adapterName: adapter, model = null } = client;
  const { prices } = settings.budget ?? settings.budgetTracker?.budget ?? {};
  const progress = new Progress(new CostMeter({ model: model ?? undefined, prices }));
  const { deadline, signal, budget, budgetTracker } = settings;
  const limits = { deadline, signal, budget, budgetTracker, model: model ?? undefined };
  const guard = new Guard({ promptName: prompt.name, ...limits }, progress);
  const { session } = settings;
  const about = { sessionId: session.id, promptName: prompt.name, adapter, model };
  return await runObserved(session.bus, { type: "evaluation", ...about }, () =>
    runExclusive({ prompt, client, settings, guard, progress }),
  );
}

/** Waits for other evaluations on the session, and runs this one. */
async function runExclusive<Output>(run: EvaluationRun<Output>): Promise<PromptResponse<Output>> {
  const { settings, guard } = run;
  const { session } = settings;
  try {
    guard.enter("request");
    checkCallFence("A nested evaluation");
    const stored = session[storedSession];
    return await session.lock.runExclusive(
      (isNested) =>
        isNested || !stored
          ? withSections(run, (sections) => runEvaluation(run, { isNested, sections }, null))
          : runClaimed(run, stored),
      {
        signal: guard.abortSignal,
        parentScope: settings[parentScope],
        place: settings[lockPlace],
      },
    );
  } catch (error) {
    throw guard.toEvaluationError(error);
  }
}

/** State that the steps of an evaluation share. */
interface EvaluationRun<Output> {
  readonly prompt: Prompt<Output>;
  readonly client: ModelClient;
  readonly settings: LoopSettings;
  readonly guard: Guard;
  readonly progress: Progress;
}

/** Claims the session, finds where the evaluation starts, and runs it or returns its stored answer. */
async function runClaimed<Output>(
  run: EvaluationRun<Output>,
  session: StoredSession,
): Promise<PromptResponse<Output>> {
  const { prompt, client, settings, guard } = run;
  const claim = await session.claim({ ifClaimed: settings.ifClaimed, signal: guard.signal });
  try {
    const start = await findStart(prompt, client, settings);
    const answer = findStoredAnswer(start);
    if (answer) return await answerFromStore(run, answer);
    return await withSections(run, (sections) =>
      runEvaluation(run, { isNested: false, sections }, start),
    );
  } finally {
    await closeQuietly("the session's claim", () => claim[Symbol.asyncDispose](), settings);
  }
}

/** Prepares the sections that need it, runs `work`, and releases them. */
function withSections<Result>(
  run: Pick<EvaluationRun<unknown>, "prompt" | "settings" | "guard">,
  work: (sections: PreparedSections | null) => Promise<Result>,
): Promise<Result> {
  const sections = PreparedSections.find(run.prompt, run.settings.session, run.guard.signal);
  return sections ? runPrepared(sections, run, work) : work(null);
}

async function runPrepared<Result>(
  sections: PreparedSections,
  { settings, guard }: Pick<EvaluationRun<unknown>, "settings" | "guard">,
  work: (sections: PreparedSections) => Promise<Result>,
): Promise<Result> {
  guard.enter("render");
  try {
    await sections.prepare();
    return await work(sections);
  } finally {
    await closeQuietly("a section", () => sections[Symbol.asyncDispose](), settings);
  }
}

/** Runs an evaluation. `start` is `null` if it is not stored. */
async function runEvaluation<Output>(
  { prompt, client, settings, guard, progress }: EvaluationRun<Output>,
  { isNested, sections }: Pick<Evaluation, "isNested" | "sections">,
  start: EvaluationStart | null,
): Promise<PromptResponse<Output>> {
  guard.enter("render");
  if (prompt.hasOverrides) {
    await raceAbort(loadOverrides(prompt, client, settings, { isNested }), guard.abortSignal);
  }
  const rendered = preparePrompt(prompt, client, settings, { isNested });
  const resources = new OpenResources(prompt.template.resources, settings.resources);
  const { tools } = toRenderedFields(rendered, settings.toolChoice);
  const evaluation: Evaluation = {
    prompt,
    rendered,
    tools,
    adapter: settings.adapter,
    adapterName: client.adapterName,
    session: settings.session,
    resources,
    guard,
    costs: progress.costs,
    clock: settings.clock,
    logger: settings.logger,
    visibility: readVisibility({ session: settings.session, prompt }),
    isNested,
    sections,
    isDurable: start !== null,
    approval: settings,
    parked: [],
    callKeys: new UnstoredKeys(),
    usedApprovals: new Set(),
    keepFiles: () => client.keepFiles?.() ?? Promise.resolve(null),
    [onBarrier]: settings[onBarrier],
  };
  let response: ParsedResponse<Output>;
  let egress: EgressReader;
  try {
    const resumed = start && (await startEvaluation(evaluation, client, progress, start));
    const turn = await takeTurns(evaluation, client, settings, { progress, resumed });
    guard.enter("response");
    const parsed = await raceAbort(
      createResponse(rendered, { turn, progress, client }),
      guard.abortSignal,
    );
    await finishConversation(evaluation, client, progress);
    publishAnswer(evaluation, turn, progress);
    if (start) await passBarrier(evaluation, "executed");
    response = { ...parsed, usage: progress.usage, ...progress.getCost() };
  } catch (error) {
    const failure = guard.toEvaluationError(error);
    publishFailure(evaluation, failure, progress);
    throw failure;
  } finally {
    await closeQuietly("the conversation", () => client.end?.(), settings);
    await closeQuietly("a resource", () => resources.close(), settings);
    egress = readEgress(client); // after the last requests, which delete files and containers
    publishEgress(evaluation, client, egress);
  }
  return completeResponse(response, settings, egress);
}

/** Returns the answer that the session has. Sends, publishes and stores nothing. */
async function answerFromStore<Output>(
  { prompt, client, settings, guard, progress }: EvaluationRun<Output>,
  stored: StoredAnswer,
): Promise<PromptResponse<Output>> {
  let response: ParsedResponse<Output>;
  try {
    guard.enter("render");
    await raceAbort(prompt.loadOverrides(), guard.abortSignal);
    // The answer is read with the output schema and the hosted tools. Sections are not prepared for it, so a tool
    // choice may name a tool that is not listed.
    const reading = { ...settings, prepared: false, toolChoice: "auto" } as const;
    const { rendered } = renderForClient(prompt, client, reading);
    guard.enter("response");
    const fields = toRenderedFields(rendered, reading.toolChoice);
    const turn = await readStoredAnswer(client, progress, stored, fields);
    deliverAnswer(turn, progress.turns, settings);
    response = await createResponse(rendered, { turn, progress, client });
  } finally {
    await closeQuietly("the conversation", () => client.end?.(), settings);
  }
  return completeResponse({ ...response }, settings, readEgress(client));
}

/** A response before the evaluation has ended. */
type ParsedResponse<Output> = Omit<PromptResponse<Output>, "session" | "egress">;

/**
 * Adds the session, which is not enumerable, because logs and JSON should omit it, and the report of all requests,
 * which is created when it is first read.
 */
function completeResponse<Output>(
  response: ParsedResponse<Output>,
  { session }: LoopSettings,
  egress: EgressReader,
): PromptResponse<Output> {
  const complete = Object.defineProperty(addEgress(response, egress), "session", {
    value: session,
  });
  return Object.freeze(complete) as PromptResponse<Output>;
}

const addEgress = createLazyField<EgressReport>("egress");

/** Closes a resource and only reports errors, so that the answer is not lost. */
function closeQuietly(
  what: string,
  close: () => PromiseLike<void> | null | undefined,
  { logger }: LoopSettings,
): PromiseLike<void> | undefined {
  const report = (error: unknown) => {
    logger.error(`${what} failed to close`, { error });
    warn(`${what.replace(/^./, (first) => first.toUpperCase())} failed to close`, error);
  };
  try {
    return close()?.then(undefined, report);
  } catch (error) {
    report(error);
    return undefined;
  }
}
