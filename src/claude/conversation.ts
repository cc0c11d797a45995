import { type Announcement, announce } from "../adapter/events.ts";
import type { ModelClient, Omission, Turn, TurnRequest } from "../adapter/model-client.ts";
import { InvalidOptionError, messageOf, WinkError } from "../base/errors.ts";
import { numberAt } from "../base/reading.ts";
import { addUsage } from "../base/usage.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { Session } from "../session/session.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { runsAtProvider } from "../tools/projected-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { AdapterSettings } from "./adapter-options.ts";
import { attachedBlocks, checkAttachments } from "./attachments.ts";
import type { Given } from "./given.ts";
import { ANSWER_TOOL } from "./run/run.ts";
import { lostRun, notUndone, retryFailure, runFailure, unstartedRun } from "./run/run-failure.ts";
import { RunHost } from "./run/run-host.ts";
import type { NativeCall, RunStep } from "./run/run-state.ts";
import { Spent } from "./run/spent.ts";
import { claudeHistorySlice, Transcript } from "./run/transcript.ts";
import { turnOf } from "./run/turn.ts";
import { fileTools } from "./tools/file-tools.ts";
import { checkHostedTools } from "./tools/hosted-to-native.ts";
import type { NativeTools } from "./tools/native-tools.ts";
import { undisclosedTools } from "./tools/undisclosed-tools.ts";
import { checkOneWorkspace, workspaceOf } from "./workspace/workspace-of.ts";

/** What one evaluation's conversation is made with. */
export interface ConversationSettings extends AdapterSettings {
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether it goes on from the session's stored history. */
  readonly continues: boolean;
  /** Which hosted tools the caller allows. */
  readonly allowed: boolean | readonly string[] | undefined;
}

/** One evaluation's conversation on the Claude Agent SDK: what `evaluate` drives. */
export class Conversation implements ModelClient {
  readonly adapterName = "claude";
  readonly canContinue = true;
  readonly hostedTools: readonly HostedTool[];
  readonly #settings: ConversationSettings;
  #native: NativeTools | null = null;
  #host: Promise<RunHost> | null = null;
  #closing: Promise<void> | null = null;
  #transcript = new Transcript([]);
  #spent = new Spent();
  /** The prompt as the model has read it. */
  #read = "";
  /** The turn whose news the SDK has, though its request has failed. */
  #told = 0;
  #text = "";
  /** The last answer that was to fit the schema, as the model wrote it. */
  #attempt: string | null = null;
  /** Calls that ran before a request that failed: the turn that comes of it tells them. */
  readonly #unsaid: NativeCall[] = [];

  constructor(settings: ConversationSettings) {
    this.#settings = settings;
    const own = workspaceOf(settings.prompt) ? fileTools(settings.permissionMode) : [];
    this.hostedTools = [...own, ...settings.hostedTools];
  }

  check(rendered: RenderedPrompt): readonly Omission[] {
    const { prompt, unsupported, logger, permissionMode } = this.#settings;
    checkAttachments(rendered.attachments);
    checkOneWorkspace(prompt);
    const hasWorkspace = workspaceOf(prompt) !== null;
    return checkHostedTools(rendered, { hasWorkspace, unsupported, logger, permissionMode });
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

  /** Ends the SDK's process, and leaves nothing of it. */
  async end(): Promise<void> {
    const host = await this.#host?.catch(() => null); // it said so when it was awaited
    this.#host = null;
    this.#told = 0;
    if (host) this.#closing = host.close();
    await this.#closing; // also for whoever comes while another one ends it
  }

  async #send(request: TurnRequest): Promise<Turn> {
    const { rendered, signal } = request;
    this.#host ??= this.#begin(request);
    const host = await this.#host;
    if (this.#told === request.turn) host.run.say(GO_ON);
    else if (request.turn > 1) await this.#tell(host, request);
    this.#told = request.turn;
    const step = await this.#next(host, rendered.promptName, signal);
    if (step.retry) {
      await this.end(); // nothing has happened yet: the same request may start anew
      throw retryFailure(step.retry, rendered.promptName);
    }
    if (step.result && isFailed(step.result)) {
      this.#unsaid.push(...step.native);
      if (request.turn === 1) await this.end();
      const attempt = attemptIn(step) ?? this.#attempt;
      const [result, failure] = [step.result, step.failure].map(host.withoutSecrets);
      throw runFailure(result ?? {}, failure ?? null, rendered.promptName, attempt);
    }
    return this.#turn(host, step);
  }

  async #begin(request: TurnRequest): Promise<RunHost> {
    const { rendered, toolChoice, signal, isNested = false } = request;
    refuseChoice(toolChoice);
    const { session, continues, prompt, allowed } = this.#settings;
    session.register(claudeHistorySlice);
    const earlier = continues && !isNested ? session.get(claudeHistorySlice) : [];
    this.#transcript = new Transcript(earlier);
    this.#spent = new Spent();
    const workspace = workspaceOf(prompt);
    const isMute = toolChoice === "none";
    const hostedTools = isMute
      ? []
      : [...rendered.hostedTools, ...undisclosedTools(prompt, allowed)];
    const content = [
      { type: "text", text: rendered.text },
      ...(await attachedBlocks(rendered.attachments)),
    ];
    workspace?.workspace.bind((event) => this.#announce(event));
    this.#read = rendered.text;
    const host = await RunHost.open({
      ...this.#settings,
      ...{ rendered, hostedTools, workspace, transcript: this.#transcript, signal },
      read: () => this.#read,
      compacted: (about) => this.#announce(compaction(about)),
    });
    this.#native = host.native;
    host.native.render(rendered.hostedTools);
    // Whoever has given up meanwhile wants no process.
    if (!signal.aborted) await host.run.start(content, isMute ? [] : toolsOf(rendered));
    return host;
  }

  /** What is new since the last turn, and how the prompt reads now. */
  async #tell(host: RunHost, { rendered, answers, notes, toolChoice }: TurnRequest): Promise<void> {
    const given = answers.map(
      ({ call, result, text }) => [call.callId, { text, isError: !result.success }] as const,
    );
    const isAnew = rendered.text !== this.#read;
    this.#read = rendered.text;
    const anew = isAnew ? [`The instructions now read:\n\n${rendered.text}`] : [];
    const tools = toolChoice === "none" ? [] : toolsOf(rendered);
    host.native.render(rendered.hostedTools);
    await host.run.answer(new Map(given), { notes: [...notes, ...anew], tools });
  }

  async #next(host: RunHost, promptName: string, signal: AbortSignal): Promise<RunStep> {
    try {
      return await host.run.next(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WinkError) throw notUndone(error, promptName);
      const cause = host.withoutSecrets(error);
      if (!host.hasBegun) throw unstartedRun(cause, promptName);
      throw lostRun(cause, host.lastWords, promptName);
    }
  }

  #turn(host: RunHost, step: RunStep): Turn {
    const { native } = host;
    const calls = [...this.#unsaid.splice(0), ...step.native].map(host.withoutSecrets);
    const hostedCalls = calls.flatMap((call) => native.hostedCall(call) ?? []);
    const turn = turnOf(step, hostedCalls);
    const spent = this.#spent.tell(step.usage);
    this.#text = turn.text;
    this.#attempt = attemptIn(step) ?? this.#attempt;
    const { result } = step;
    const costUsd = result ? this.#spent.cost(result) : undefined;
    return {
      ...turn,
      usage: result ? addUsage(spent, this.#spent.besides(result)) : spent,
      citations: result ? native.citations(turn.text) : [],
      ...(costUsd === undefined ? {} : { costUsd }),
      history: this.#transcript.step(),
    };
  }

  #announce(event: Announcement): void {
    const { session, prompt, clock } = this.#settings;
    announce({ session, prompt, adapterName: this.adapterName, clock }, event);
  }
}

function compaction(about: Given): Announcement {
  return {
    type: "ContextCompacted",
    tokensBefore: numberAt(about, "pre_tokens") ?? 0,
    tokensAfter: numberAt(about, "post_tokens"),
    strategy: "sdk",
    usage: null,
    itemsBefore: null,
    itemsAfter: null,
    encryptedLength: 0,
  };
}

/** After a request that failed in mid-conversation: what was said before stays. */
const GO_ON = "The last request was not answered. Go on.";

function attemptIn({ message }: RunStep): string | null {
  const use = message?.uses.findLast(({ name }) => name === ANSWER_TOOL);
  return use ? JSON.stringify(use.input) : null;
}

function isFailed(result: Given): boolean {
  return result["is_error"] === true || result["subtype"] !== "success";
}

function toolsOf({ tools }: RenderedPrompt): readonly Tool[] {
  return tools.filter((tool) => !runsAtProvider(tool));
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
