import { type Announcement, announce } from "../adapter/events.ts";
import type { ModelClient, Omission, Turn, TurnRequest } from "../adapter/model-client.ts";
import { InvalidOptionError, messageOf } from "../base/errors.ts";
import type { UnknownRecord } from "../base/reading.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { Session } from "../session/session.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { runsAtProvider } from "../tools/projected-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { AdapterSettings } from "./adapter-options.ts";
import { checkAttachment, toAttachedBlock } from "./attachments.ts";
import { explainEnd, retryFailure, runFailure } from "./run/run-failure.ts";
import { RunResources } from "./run/run-resources.ts";
import type { NativeCall, RunStep } from "./run/run-state.ts";
import { claudeHistorySlice, Transcript } from "./run/transcript.ts";
import { findAttempt, toCompaction, toTurn, UsageMeter } from "./run/turn.ts";
import { checkHostedTools } from "./tools/hosted-to-native.ts";
import { type NativeTools, undisclosedTools } from "./tools/native-tools.ts";
import { checkOneWorkspace, findWorkspace, type WorkspaceOwner } from "./workspace/workspace.ts";

/** What one evaluation's conversation is made from. */
export interface ConversationSettings extends AdapterSettings {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether it continues from the session's stored history. */
  readonly continues: boolean;
  /** Which hosted tools the caller allows. */
  readonly allowed: boolean | readonly string[] | undefined;
}

/** One evaluation's conversation on the Claude Agent SDK, driven by `evaluate`. */
export class Conversation implements ModelClient {
  readonly adapterName = "claude";
  readonly canContinue = true;
  readonly hostedTools: readonly HostedTool[];
  readonly #settings: ConversationSettings;
  readonly #workspace: WorkspaceOwner | null;
  #native: NativeTools | null = null;
  #resources: Promise<RunResources> | null = null;
  #closing: Promise<void> | null = null;
  #transcript = new Transcript([]);
  #usageMeter = new UsageMeter();
  /** The prompt as the model has last read it. */
  #promptText = "";
  /** The last turn whose news was sent. If its request failed, the news must not be sent again. */
  #sentTurn = 0;
  #text = "";
  /** The last structured answer that the model tried, as it wrote it. */
  #attempt: string | null = null;
  /** Calls that ran before a request that failed. The next turn reports them. */
  readonly #unreported: NativeCall[] = [];

  constructor(settings: ConversationSettings) {
    this.#settings = settings;
    this.#workspace = findWorkspace(settings.prompt);
    this.hostedTools = [...(this.#workspace ? settings.fileTools : []), ...settings.hostedTools];
  }

  check(rendered: RenderedPrompt): readonly Omission[] {
    for (const attachment of rendered.attachments) checkAttachment(attachment);
    checkOneWorkspace(this.#settings.prompt);
    return checkHostedTools(rendered, {
      ...this.#settings,
      hasWorkspace: this.#workspace !== null,
    });
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
        logger.warn("request failed", { model, message: messageOf(error) });
      throw error;
    }
  }

  *hostedOutputs(): Iterable<readonly [name: string, output: unknown]> {
    yield* this.#native?.hostedOutputs(this.#text) ?? [];
  }

  /** Ends the SDK's process and removes everything that was created for it. */
  async end(): Promise<void> {
    const resources = await this.#resources?.catch(() => null); // `send` has thrown that error
    this.#resources = null;
    this.#sentTurn = 0;
    if (resources) this.#closing = resources.close();
    await this.#closing; // a second caller waits for the first
  }

  async #send(request: TurnRequest): Promise<Turn> {
    const { rendered, turn, signal } = request;
    this.#resources ??= this.#begin(request);
    const resources = await this.#resources;
    if (this.#sentTurn === turn) resources.run.say("The last request was not answered. Go on.");
    else if (turn > 1) await this.#sendNews(resources, request);
    this.#sentTurn = turn;
    const step = await resources.run.next(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw explainEnd(error, resources, rendered.promptName);
    });
    if (step.retry) {
      await this.end(); // nothing has happened yet, so the same request may start a new run
      throw retryFailure(step.retry, rendered.promptName);
    }
    if (step.result && isFailed(step.result)) {
      this.#unreported.push(...step.native);
      if (turn === 1) await this.end();
      const attempt = findAttempt(step) ?? this.#attempt;
      const [result, failure] = [step.result, step.failure].map(resources.withoutSecrets);
      throw runFailure(result ?? {}, failure ?? null, rendered.promptName, attempt);
    }
    return this.#toTurn(resources, step);
  }

  /** Prepares a run and starts it with the prompt. */
  async #begin(request: TurnRequest): Promise<RunResources> {
    const { rendered, toolChoice, signal, isNested = false } = request;
    refuseChoice(toolChoice);
    const { session, continues, prompt, allowed } = this.#settings;
    session.register(claudeHistorySlice);
    const earlier = continues && !isNested ? session.get(claudeHistorySlice) : [];
    this.#transcript = new Transcript(earlier);
    this.#usageMeter = new UsageMeter();
    const content: object[] = [{ type: "text", text: rendered.text }];
    for (const attachment of rendered.attachments) content.push(await toAttachedBlock(attachment));
    const isMute = toolChoice === "none";
    this.#workspace?.workspace.bind((event) => this.#announce(event));
    this.#promptText = rendered.text;
    const resources = await RunResources.open({
      ...this.#settings,
      ...{ rendered, signal, workspace: this.#workspace, transcript: this.#transcript },
      hostedTools: isMute ? [] : [...rendered.hostedTools, ...undisclosedTools(prompt, allowed)],
      promptText: () => this.#promptText,
      compacted: (about) => this.#announce(toCompaction(about)),
    });
    this.#native = resources.native;
    resources.native.render(rendered.hostedTools);
    // An evaluation that was aborted meanwhile needs no process.
    if (!signal.aborted) await resources.run.start(content, isMute ? [] : ownTools(rendered));
    return resources;
  }

  /** Sends what is new since the last turn, and the prompt if it reads differently now. */
  async #sendNews({ native, run }: RunResources, request: TurnRequest): Promise<void> {
    const { rendered, toolChoice } = request;
    const answers = request.answers.map(
      ({ call, result, text }) => [call.callId, { text, isError: !result.success }] as const,
    );
    const isChanged = rendered.text !== this.#promptText;
    this.#promptText = rendered.text;
    const changed = isChanged ? [`The instructions now read:\n\n${rendered.text}`] : [];
    const tools = toolChoice === "none" ? [] : ownTools(rendered);
    native.render(rendered.hostedTools);
    await run.answer(new Map(answers), { notes: [...request.notes, ...changed], tools });
  }

  #toTurn({ native, withoutSecrets }: RunResources, step: RunStep): Turn {
    const calls = [...this.#unreported.splice(0), ...step.native].map(withoutSecrets);
    const hostedCalls = calls.flatMap((call) => native.hostedCall(call) ?? []);
    const turn = toTurn(step, hostedCalls);
    this.#text = turn.text;
    this.#attempt = findAttempt(step) ?? this.#attempt;
    return {
      ...turn,
      ...this.#usageMeter.measure(step),
      citations: step.result ? native.citations(turn.text) : [],
      history: this.#transcript.step(),
    };
  }

  #announce(event: Announcement): void {
    const { session, prompt, clock } = this.#settings;
    announce({ session, prompt, adapterName: this.adapterName, clock }, event);
  }
}

function refuseChoice(toolChoice: TurnRequest["toolChoice"]): void {
  if (toolChoice === "auto" || toolChoice === "none") return;
  throw new InvalidOptionError({
    field: "toolChoice",
    value: toolChoice,
    rule: 'must be "auto" or "none" on the Claude Agent SDK, which cannot make the model call a tool',
    remedy: "say in the prompt which tool is to be called",
  });
}

function ownTools({ tools }: RenderedPrompt): readonly Tool[] {
  return tools.filter((tool) => !runsAtProvider(tool));
}

function isFailed(result: UnknownRecord): boolean {
  return result["is_error"] === true || result["subtype"] !== "success";
}
