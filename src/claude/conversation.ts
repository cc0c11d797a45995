import type { EgressReport } from "../adapter/egress/egress-report.ts";
import { type AdapterEvent, publishEvent } from "../adapter/events.ts";
import type {
  FinishedConversation,
  HistoryStep,
  HostedCall,
  ModelClient,
  Omission,
  ResumedTurn,
  ToolChoice,
  Turn,
  TurnRequest,
} from "../adapter/model-client.ts";
import { findProgressListener } from "../adapter/progress-listener.ts";
import { type ChoosableTools, selectAllowedTools } from "../adapter/tool-choice.ts";
import { getErrorMessage } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import { noUsage } from "../base/usage.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { WorkspaceManifest } from "../prompt/sections/workspace-slice.ts";
import type { Session } from "../session/session.ts";
import { runsAtProvider } from "../tools/as-hosted-tool.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { AdapterSettings } from "./adapter-options.ts";
import { checkAttachment } from "./attachments.ts";
import { checkToolChoice } from "./check-tool-choice.ts";
import { listStepContents, toAnswerResults, toBatchResults } from "./run/call-results.ts";
import { createContinuation, createLostFilesText } from "./run/create-continuation.ts";
import { canWrite } from "./run/native-rollback.ts";
import { hasSameTexts, resumePointSlice } from "./run/resume-point.ts";
import { toResultError, toRetryError, toRunError } from "./run/run-errors.ts";
import { RunResources } from "./run/run-resources.ts";
import type { NativeCall, RunStep } from "./run/run-state.ts";
import { SentPrompt } from "./run/sent-prompt.ts";
import { claudeHistorySlice, Transcript } from "./run/transcript.ts";
import { findAttemptedAnswer, toCompactionEvent, toTurn, UsageMeter } from "./run/turn.ts";
import { SentMessages } from "./sent-messages.ts";
import { checkHostedTools } from "./tools/hosted-kinds.ts";
import { listUndisclosedTools, NativeTools } from "./tools/native-tools.ts";
import {
  checkOneWorkspace,
  findWorkspace,
  type WorkspaceOwner,
} from "./workspace/host-workspace.ts";

/** Settings of one evaluation's conversation. */
export interface ConversationSettings extends AdapterSettings {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether the conversation continues the session's stored history. */
  readonly continues: boolean;
  /** The hosted tools that the caller allows. */
  readonly allowedHostedTools: boolean | readonly string[] | undefined;
  /** A longer wait of the SDK before it repeats a request ends the evaluation. @default any wait */
  readonly maxRetryMs?: number | undefined;
}

/** One evaluation's conversation on the Claude Agent SDK, driven by `evaluate`. */
export class Conversation implements ModelClient {
  readonly adapterName = "claude";
  readonly canContinue = true;
  readonly model: string | null;
  readonly hostedTools: readonly HostedTool[];
  readonly #settings: ConversationSettings;
  readonly #workspace: WorkspaceOwner | null;
  #nativeTools: NativeTools | null = null;
  #resources: Promise<RunResources> | null = null;
  #closing: Promise<void> | null = null;
  #transcript = new Transcript([]);
  /** An interrupted evaluation's hosted calls, which are part of its outputs. */
  #earlierCalls: readonly HostedCall[] = [];
  #usageMeter = new UsageMeter();
  readonly #sentMessages = new SentMessages();
  #isNested = false;
  /** Decides about calls to native tools that need approval. */
  #decideCall: NonNullable<TurnRequest["decideCall"]> = denyCall;
  /** The number of the first turn in this process. A resumed evaluation starts after its last one. */
  #firstTurn = 1;
  /** The last turn whose answers and notes were sent. If its request fails, they are not resent. */
  #sentTurn = 0;
  #text = "";
  /** The model's last attempt at a structured answer, as JSON. */
  #attemptedAnswer: string | null = null;
  /** Calls that ran before a failed request. The next turn reports them. */
  readonly #unreportedCalls: NativeCall[] = [];

  constructor(settings: ConversationSettings) {
    this.#settings = settings;
    this.model = settings.model;
    this.#workspace = findWorkspace(settings.prompt);
    this.hostedTools = [...(this.#workspace ? settings.fileTools : []), ...settings.hostedTools];
  }

  check(rendered: RenderedPrompt): readonly Omission[] {
    for (const attachment of rendered.attachments) checkAttachment(attachment, "attach(files)");
    checkOneWorkspace(this.#settings.prompt);
    return checkHostedTools(rendered, {
      ...this.#settings,
      hasWorkspace: this.#workspace !== null,
    });
  }

  /** Prevents the cleanup of the prompt's workspace until the returned hold is disposed. */
  holdWorkspace(): Disposable | null {
    return this.#workspace?.workspace.hold() ?? null;
  }

  /** Prepares to continue after a stored turn. The SDK starts with the next request, if there is one. */
  resume({ number, turn, earlierCalls, rendered }: ResumedTurn): Turn {
    const { permissionMode } = this.#settings;
    this.#firstTurn = number + 1;
    this.#text = turn.text;
    this.#earlierCalls = [...earlierCalls, ...turn.hostedCalls];
    this.#workspace?.workspace.onResumed();
    const workspace = this.#workspace ? "" : null;
    this.#nativeTools = new NativeTools(rendered.hostedTools, { workspace, permissionMode });
    this.#nativeTools.replay(this.#earlierCalls);
    return turn;
  }

  async send(request: TurnRequest): Promise<Turn> {
    const { logger, model } = this.#settings;
    logger.debug("request", { model, turn: request.turn });
    try {
      const turn = await this.#send(request);
      logger.debug("response", { model: turn.model, requestId: turn.requestId });
      return turn;
    } catch (error) {
      if (!request.signal.aborted)
        logger.warn("request failed", { model, message: getErrorMessage(error) });
      throw error;
    }
  }

  /** Keeps the workspace's files, so that the evaluation can be resumed with them. */
  async keepFiles(): Promise<WorkspaceManifest | null> {
    return (await this.#workspace?.workspace.keep()) ?? null;
  }

  /** Keeps the files that the last calls have changed. */
  async finish(): Promise<FinishedConversation> {
    const workspace = this.#isNested ? null : await this.keepFiles();
    return { usage: noUsage, ...(workspace && { workspace }) };
  }

  *hostedOutputs(): Iterable<readonly [name: string, output: unknown]> {
    yield* this.#nativeTools?.listHostedOutputs(this.#text) ?? [];
  }

  /** Ends the SDK's process and removes its temporary files. */
  async end(): Promise<void> {
    const resources = await this.#resources?.catch(() => null); // `send` has thrown that error
    this.#resources = null;
    this.#sentTurn = 0;
    if (resources) this.#closing = resources.close();
    await this.#closing; // a second caller waits for the first
  }

  /** Returns a function that creates the report of what was passed to the SDK. */
  egress(): () => EgressReport {
    return this.#sentMessages.close();
  }

  async #send(request: TurnRequest): Promise<Turn> {
    this.#isNested = request.isNested ?? false;
    this.#decideCall = request.decideCall ?? denyCall;
    const { rendered, turn, signal } = request;
    const started = this.#resources;
    this.#resources ??= this.#startRun(request);
    const resources = await this.#resources;
    if (started) resources.reporter.startTurn(turn, request.observer ?? null);
    if (this.#sentTurn === turn) {
      this.#sentMessages.add([CONTINUE_TEXT]);
      resources.run.sendText(CONTINUE_TEXT);
    } else if (turn > this.#firstTurn) await this.#sendNews(resources, request);
    this.#sentTurn = turn;
    const step = await resources.run.next(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw toRunError(error, resources, rendered.promptName);
    });
    if (step.retry) {
      // Nothing has happened yet, so a retry may start a new run. After a long wait, a resumed evaluation does.
      await this.end();
      throw toRetryError(step.retry, rendered.promptName);
    }
    if (step.result && hasFailed(step.result)) {
      this.#unreportedCalls.push(...step.native);
      if (turn === this.#firstTurn) await this.end();
      const attempt = findAttemptedAnswer(step) ?? this.#attemptedAnswer;
      const [result, failure] = [step.result, step.failure].map(resources.redact);
      const { promptName } = rendered;
      const { hasRetried } = step;
      throw toResultError(result ?? {}, failure ?? null, { promptName, attempt, hasRetried });
    }
    return await this.#toTurn(resources, step);
  }

  /** Prepares a run and sends the prompt. */
  async #startRun(request: TurnRequest): Promise<RunResources> {
    const { rendered, toolChoice, signal } = request;
    const { session, continues, prompt, allowedHostedTools } = this.#settings;
    const all = [...rendered.hostedTools, ...listUndisclosedTools(prompt, allowedHostedTools)];
    if (toolChoice !== "auto") checkToolChoice(toolChoice, all);
    session.register(claudeHistorySlice);
    const isStored = this.#isStored;
    if (isStored) session.register(resumePointSlice);
    const isResumed = this.#firstTurn > 1;
    const earlier =
      (continues || isResumed) && !this.#isNested ? session.get(claudeHistorySlice) : [];
    const answers = isResumed ? toAnswerResults(request.answers) : undefined;
    this.#transcript = new Transcript(earlier, answers);
    this.#usageMeter = new UsageMeter();
    const sent = isResumed ? session.get(resumePointSlice) : null;
    const sentPrompt = new SentPrompt(rendered, request.input, sent);
    const content = isResumed
      ? createContinuation(request, { earlier, sentPrompt })
      : await sentPrompt.createContent(rendered.attachments);
    const { tools, hostedTools } = selectOfferedTools(request);
    const { logger } = this.#settings;
    const publisher = { ...this.#settings, adapterName: this.adapterName };
    this.#workspace?.workspace.bind(
      (event) => this.#publishEvent(event),
      logger,
      () => findProgressListener(publisher),
    );
    const resources = await RunResources.open({
      ...this.#settings,
      ...{ rendered, signal, workspace: this.#workspace, transcript: this.#transcript },
      hostedTools: selectTools(toolChoice, { tools: [], hostedTools: all }).hostedTools,
      sentPrompt,
      onCompacted: (metadata) => this.#publishEvent(toCompactionEvent(metadata)),
      decideCall: (call) => this.#decideCall(call),
      ...(isStored && {
        onBatch: (calls, failedIds) => this.#transcript.setBatch(toBatchResults(calls, failedIds)),
      }),
    });
    this.#nativeTools = resources.native;
    resources.native.replay(this.#earlierCalls);
    resources.native.setHostedTools(hostedTools);
    resources.reporter.startTurn(request.turn, request.observer ?? null);
    try {
      const lost = this.#isNested ? [] : await this.#keepMounts(request);
      // Do not start a process if the evaluation was aborted during the preparation.
      const callIds = isResumed ? request.answers.map(({ call }) => call.callId) : [];
      if (!signal.aborted) this.#sentMessages.add([...content, ...lost], callIds);
      if (!signal.aborted) await resources.run.start([...content, ...lost], tools);
      return resources;
    } catch (error) {
      await resources.close();
      throw error;
    }
  }

  /** Keeps the files before the first request. Returns a text about files that an earlier process had. */
  async #keepMounts({ onKept }: TurnRequest): Promise<readonly object[]> {
    const manifest = await this.keepFiles();
    if (manifest) await onKept?.(manifest);
    const lost = this.#workspace?.workspace.takeLost() ?? [];
    if (lost.length === 0) return [];
    this.#settings.logger.warn("files of the workspace were lost", { files: lost });
    return [createLostFilesText(lost)];
  }

  /** Sends tool results and notes since the last turn, and the text of roles that changed. */
  async #sendNews({ native, run, sentPrompt }: RunResources, request: TurnRequest): Promise<void> {
    const { rendered } = request;
    const answers = request.answers.map(
      ({ call, result, text }) => [call.callId, { text, isError: !result.success }] as const,
    );
    const changed = sentPrompt.update(rendered);
    const { tools, hostedTools } = selectOfferedTools(request);
    native.setHostedTools(hostedTools);
    const notes = [...request.notes, ...changed];
    const callIds = answers.map(([callId]) => callId);
    this.#sentMessages.add([...answers, ...notes], callIds);
    await run.answer(new Map(answers), { notes, tools });
  }

  async #toTurn(resources: RunResources, step: RunStep): Promise<Turn> {
    const { native, redact } = resources;
    const isStored = this.#isStored;
    const mayHaveFiles = !this.#isNested && step.native.some(({ name }) => canWrite(name));
    const workspace = mayHaveFiles ? await this.keepFiles() : null;
    if (isStored) await this.#transcript.waitFor(listStepContents(step));
    const calls = [...this.#unreportedCalls.splice(0), ...step.native].map(redact);
    const hostedCalls = calls.flatMap((call) => native.toHostedCall(call) ?? []);
    const turn = toTurn(step, hostedCalls);
    this.#sentMessages.addNativeCalls(hostedCalls.map(({ callId }) => callId));
    this.#text = turn.text;
    this.#attemptedAnswer = findAttemptedAnswer(step) ?? this.#attemptedAnswer;
    return {
      ...turn,
      ...this.#usageMeter.measure(step),
      citations: step.result ? native.findCitations(turn.text) : [],
      history: {
        ...this.#transcript.takeStep(),
        ...(isStored && this.#createResumePoint(resources.sentPrompt)),
      },
      ...(workspace && { workspace }),
    };
  }

  /** Returns the prompt as the model has it, if the session does not have that yet. */
  #createResumePoint({ sent }: SentPrompt): Pick<HistoryStep, "resumePoint"> {
    const before = this.#settings.session.get(resumePointSlice);
    return hasSameTexts(before, sent) ? {} : { resumePoint: sent };
  }

  /** Whether turns are stored, so that the evaluation can be resumed after them. */
  get #isStored(): boolean {
    return this.#settings.session.isStored && !this.#isNested;
  }

  #publishEvent(event: AdapterEvent): void {
    const { session, prompt, clock } = this.#settings;
    publishEvent({ session, prompt, adapterName: this.adapterName, clock }, event);
  }
}

/** Denies a call that needs approval, for a loop that cannot decide about it. */
async function denyCall(): ReturnType<NonNullable<TurnRequest["decideCall"]>> {
  return { kind: "denied", message: "The call was not made: it needs approval." };
}

/** The message that follows a request without an answer. */
const CONTINUE_TEXT = "The last request was not answered. Continue.";

/** Selects the tools that the model may use in a turn: those that run locally, and hosted ones. */
function selectOfferedTools({ toolChoice, rendered }: TurnRequest) {
  const { tools, hostedTools } = selectTools(toolChoice, rendered);
  return { tools: tools.filter((tool) => !runsAtProvider(tool)), hostedTools };
}

function selectTools(toolChoice: ToolChoice, tools: ChoosableTools): ChoosableTools {
  return toolChoice === "auto" ? tools : selectAllowedTools(toolChoice, tools);
}

function hasFailed(result: UnknownRecord): boolean {
  return result["is_error"] === true || result["subtype"] !== "success";
}
