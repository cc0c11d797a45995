import type { EgressReport } from "../../adapter/egress/egress-report.ts";
import { type AdapterEvent, publishEvent } from "../../adapter/events.ts";
import type {
  FinishedConversation,
  HistoryStep,
  ModelClient,
  Omission,
  ResumedTurn,
  Turn,
  TurnRequest,
} from "../../adapter/model-client.ts";
import { addUsage, noUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { checkZeroRetentionInput, checkZeroRetentionPrompt } from "../compaction/zero-retention.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import type { History } from "../history/history.ts";
import {
  addResumePoint,
  getResumePoint,
  type NewPoint,
  resumePointSlice,
} from "../history/resume-point.ts";
import { canRunInBackground, type RawResponse } from "../http/background-calls.ts";
import {
  createSystemText,
  findNamedContainers,
  getMessageText,
  toOutputItem,
} from "../request/request.ts";
import { checkHostedTools, toWireEntries } from "../request/tool-support.ts";
import { createTextMessage, createUserMessages } from "../request/user-messages.ts";
import { readHostedCalls, readResponse } from "../response/response.ts";
import type { WireItem } from "../wire.ts";
import { attemptExchange, toEvaluationError } from "./attempt-exchange.ts";
import { BackgroundTurn } from "./background-turn.ts";
import {
  ConversationContainer,
  type PromptWorkspace,
  type ReplacedContainer,
} from "./conversation-container.ts";
import { ConversationHistory, developerMessage, type PromptTexts } from "./conversation-history.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import { ConversationWindow } from "./conversation-window.ts";
import { HostedItems } from "./hosted-items.ts";
import { RequestBaseCache } from "./request-base-cache.ts";
import type { RequestBase } from "./send-request.ts";

/** One evaluation's conversation with the Responses API, driven by the loop in `evaluate`. */
export class Conversation implements ModelClient {
  readonly adapterName = "openai";
  readonly canContinue = true;
  readonly model: string;
  readonly hostedTools: readonly HostedTool[];
  readonly #settings: ConversationSettings;
  readonly #container: ConversationContainer;
  readonly #window: ConversationWindow;
  #history: ConversationHistory | null = null;
  readonly #bases: RequestBaseCache;
  readonly #hosted: HostedItems;
  /** The last turn, if the provider runs responses in the background. */
  #background: BackgroundTurn | null = null;
  /** The messages with the prompt's attachments and the user's input. */
  #userMessages: readonly WireItem[] | null = null;
  /** The last request that was answered, without its input. */
  #lastRequest: (Pick<TurnWork["request"], "rendered"> & Pick<TurnWork, "base">) | null = null;

  constructor(settings: ConversationSettings, workspaces: readonly PromptWorkspace[] = []) {
    this.#settings = settings;
    this.model = settings.model;
    this.hostedTools = settings.hostedTools;
    const publish = (event: AdapterEvent) => this.#publish(event);
    this.#container = new ConversationContainer(settings, workspaces, publish);
    this.#window = new ConversationWindow(settings, publish);
    this.#bases = new RequestBaseCache(settings, settings.lastRequest);
    this.#hosted = new HostedItems(settings);
  }

  /** Checks a prompt before the first request. Returns the hosted tools to omit. */
  check(rendered: RenderedPrompt, forbidden: readonly Omission[] = []): readonly Omission[] {
    const { compaction, codecs, logger } = this.#settings;
    const isChecked = this.#bases.isKnown(rendered);
    const omissions = isChecked ? [] : checkHostedTools(rendered, this.#settings);
    this.#container.checkTools(rendered, forbidden);
    if (compaction.zdrMode) checkZeroRetentionPrompt(rendered, compaction);
    for (const tool of rendered.hostedTools) {
      const warning = codecs.get(tool.kind)?.warning?.(tool) ?? null;
      if (warning !== null) logger.warn(warning, { name: tool.name });
    }
    return omissions;
  }

  /** Sends one turn. On failure the history is restored; repairs stay. */
  async send(request: TurnRequest): Promise<Turn> {
    const work = await this.#prepare(request);
    try {
      this.#append(work);
      if (this.#window.mayNeedCompaction(work.conversation.history, work.base)) {
        await this.#compactIfNeeded(work);
      }
      const answer = await this.#exchange(work);
      return await this.#absorb(work, answer);
    } catch (error) {
      work.conversation.restore();
      this.#container.onRequestFailed();
      throw error;
    }
  }

  /**
   * Continues the stored history as it is, also with calls that have no output yet. Throws
   * `InvalidOptionError` if the session does not have it.
   */
  resume({ number, turn, rendered }: ResumedTurn): Turn {
    const { session, codecs } = this.#settings;
    const point = getResumePoint(session, number);
    const resumed = this.#window.resume(point.window);
    const publish = (event: AdapterEvent) => this.#publish(event);
    const start = { carried: resumed, resumed: point };
    this.#history = new ConversationHistory(this.#settings, publish, start);
    this.#hosted.resume(point, rendered.hostedTools);
    this.#container.onResumed(this.#history.history.items, this.#hosted.items);
    this.#lastRequest = { base: this.#getRequestBase({ rendered, toolChoice: "auto" }), rendered };
    const getEntries = () => this.#toEntries(rendered);
    // The event has shortened calls, and none that are delegated.
    return { ...turn, ...readHostedCalls(point.answer, { rendered, codecs, getEntries }) };
  }

  /** Compacts a conversation that is too long, for the next evaluation. Reports failures as an event. */
  async finish({ signal }: { readonly signal: AbortSignal }): Promise<FinishedConversation> {
    const history = this.#history?.history;
    if (!history || !this.#lastRequest) return { usage: noUsage };
    const files = this.#container.isIdle
      ? { usage: noUsage }
      : await this.#container.finish(signal);
    if (this.#window.mayNeedCompaction(history, this.#lastRequest.base)) {
      await this.#window.onFinish(history, { ...this.#lastRequest, signal });
    }
    const compactionChanges = this.#window.takeChanges();
    // Before the usage is taken: if the process is lost before it is stored, the step has it.
    const step = compactionChanges.length > 0 && { history: this.#takeStep(history) };
    const usage = addUsage(files.usage, this.#window.takeUsage());
    return { ...files, usage, compactionChanges, ...step };
  }

  /** Keeps the files that a local call may have changed, for other processes. */
  async keepFiles(): Promise<WorkspaceManifest | null> {
    return await this.#container.keepFiles();
  }

  /** Removes the files and containers that were created only for this conversation. */
  async end(): Promise<void> {
    if (this.#background) await this.#background.close();
    if (!this.#container.isIdle) await this.#container.close();
  }

  /** Ends the record of requests, and returns a function that creates the report. */
  egress(): () => EgressReport {
    return this.#settings.egress.close();
  }

  /** Yields each hosted tool's output, which covers the calls of every turn and the last turn's text. */
  hostedOutputs(): Iterable<readonly [name: string, output: unknown]> {
    return this.#hosted.readOutputs();
  }

  /** Step 1: prepares the container, the request and the history. */
  async #prepare(request: TurnRequest): Promise<TurnWork> {
    const { rendered, input = [], signal } = request;
    const { compaction } = this.#settings;
    if (compaction.zdrMode) checkZeroRetentionInput(input, compaction);
    const notes = this.#container.isIdle ? [] : await this.#prepareContainer(request);
    this.#history ??= this.#startHistory(request);
    const base = this.#getRequestBase(request);
    const { tools = [] } = base.value;
    if (tools.length > 0) await this.#container.checkNamed(tools, rendered.promptName, signal);
    const hasUserMessages = request.turn === 1 && rendered.attachments.length + input.length > 0;
    if (hasUserMessages) this.#userMessages ??= await loadUserMessages(request);
    this.#history.startTurn();
    return { request, conversation: this.#history, notes, base, items: [] };
  }

  /** Prepares the container. Returns the notes that the model must read before it continues. */
  async #prepareContainer(request: TurnRequest): Promise<readonly string[]> {
    const { rendered, signal } = request;
    const isSubmitted = request.submittedId !== undefined && this.#getBackground(request) !== null;
    const notes = await this.#container.prepare(rendered.promptName, { signal, isSubmitted });
    const kept = await this.#container.keepFiles();
    if (kept) await request.onKept?.(kept);
    return notes;
  }

  /** Step 2: adds the tool results and notes since the last request to the history. */
  #append(work: TurnWork): void {
    const { request, conversation, notes } = work;
    const items = this.#createNewItems(request);
    const { lostContainers } = this.#container;
    const { turn, rendered } = request;
    const prompt = this.#getPromptTexts(rendered);
    conversation.append({ turn, prompt, items, notes, lostContainers });
    work.items = [...items, ...notes.map(developerMessage)];
    const { answers, delegatedResults } = request;
    const { egress } = this.#settings;
    egress.addToolOutputs(delegatedResults.map(({ callId }) => callId));
    egress.addToolOutputs(answers.map(({ call }) => call.callId));
  }

  /** Step 3: compacts a history that is too long, this turn's items included. */
  async #compactIfNeeded({ conversation, request, base, notes }: TurnWork): Promise<void> {
    const { rendered, signal, turn, isNested, submittedId } = request;
    if (submittedId !== undefined) return; // the process that submitted the turn has done it
    const measured = { base, rendered, signal };
    const isCompacted = await this.#window.compactIfNeeded(conversation.history, measured);
    if (!isCompacted) return;
    conversation.keepCompacted(turn, notes);
    // The prompt is not stored before the first response. A window with the prompt is stored with the response.
    if (turn === 1 || isNested) return;
    const changes = this.#window.takeChanges();
    if (!this.#settings.session.isStored) return this.#publish(...changes);
    // If the process is lost, the compaction is not paid for again.
    const step = this.#takeStep(conversation.history, { nextNotes: notes });
    this.#publish(...changes, { type: "HistoryAdvanced", turn: turn - 1, ...step });
  }

  /** Step 4: sends the request, and retries once if the cause of a failure can be repaired. */
  async #exchange(work: TurnWork): Promise<RawResponse> {
    const { rendered, observer } = work.request;
    const first = await this.#attempt(work);
    if ("value" in first) return first;
    const isRepaired = (await this.#replaceContainer(work, first)) || repairHistory(work, first);
    if (isRepaired) observer?.onRestart();
    const last = isRepaired ? await this.#attempt(work) : first;
    if ("value" in last) return last;
    const { promptName } = rendered;
    throw (
      this.#container.explainLoss(last, promptName) ??
      toEvaluationError(last, work.base, promptName)
    );
  }

  #attempt(work: TurnWork): Promise<RawResponse | OpenAIRequestError> {
    const { conversation, base, request } = work;
    const { signal, observer, turn, rendered } = request;
    const getEntries = () => this.#toEntries(rendered);
    const listener = observer ? { observer, turn, getEntries } : null;
    const { history } = conversation;
    const renew = () => this.#renewRequest(work);
    const exchange = { history, base, signal, listener, renew };
    return attemptExchange(exchange, this.#settings, this.#getBackground(request));
  }

  /** Returns the turn's state in the background. Attempts of the same turn share it. */
  #getBackground(request: TurnRequest): BackgroundTurn | null {
    const { client, delivery } = this.#settings;
    if (!delivery.isBackground || !canRunInBackground(client)) return null;
    if (this.#background?.request === request) return this.#background;
    this.#background = new BackgroundTurn(request, client);
    return this.#background;
  }

  /** Step 5: reads the response and adds it to the history. */
  async #absorb({ conversation, ...work }: TurnWork, answer: RawResponse): Promise<Turn> {
    const { base, request } = work;
    const { rendered, signal } = request;
    const { codecs } = this.#settings;
    const { secrets } = base;
    const { value, requestId } = answer;
    const getEntries = () => this.#toEntries(rendered);
    const reading = { rendered, codecs, requestId, secrets, getEntries };
    const { turn, items } = readResponse(value, reading);
    const answered = { turn, items, tools: base.value.tools };
    const { isIdle } = this.#container;
    const hasContainer = !isIdle || turn.hostedCalls.length > 0;
    const usage = hasContainer ? await this.#container.afterTurn(answered, signal) : noUsage;
    const workspace = isIdle ? undefined : ((await this.#container.keepFiles()) ?? undefined);
    // Nothing fails from here: the conversation changes completely or not at all.
    conversation.completeTurn(items);
    const added = { sent: work.items, answer: items };
    this.#hosted.addTurn(added, rendered.hostedTools);
    const { history } = conversation;
    this.#window.onAnswer(history, { turn, items, base });
    this.#lastRequest = { base, rendered };
    const own = addUsage(usage, this.#window.takeUsage());
    const step = this.#takeStep(history, { items: added });
    const compactionChanges = this.#window.takeChanges();
    const sum = addUsage(turn.usage, own);
    const containerTier = this.#container.findMemoryLimit(turn, base.value.tools);
    const containerIds = this.#container.takeBilled();
    return {
      ...turn,
      usage: sum,
      history: step,
      compactionChanges,
      workspace,
      containerIds,
      containerTier,
    };
  }

  /** Returns the changes of the history. In a stored session, the evaluation can be resumed after them. */
  #takeStep(history: History, added: Pick<NewPoint, "items" | "nextNotes"> = {}): HistoryStep {
    const { session } = this.#settings;
    const step = history.takeStep();
    if (!session.isStored) return step;
    const before = session.get(resumePointSlice);
    const window = { ...this.#window.state };
    return addResumePoint(step, history.places, { ...added, window, before });
  }

  #toEntries({ hostedTools }: RenderedPrompt) {
    return toWireEntries(hostedTools, this.#settings.codecs, this.#container.env);
  }

  /** Returns the request without its input. */
  #getRequestBase(request: Pick<TurnRequest, "rendered" | "toolChoice">): RequestBase {
    const { serverThreshold } = this.#window;
    return this.#bases.get(request, { env: this.#container.env, serverThreshold });
  }

  #startHistory({ rendered, input = [], isNested = false }: TurnRequest): ConversationHistory {
    const prompt = this.#getPromptTexts(rendered);
    const hasUserMessages = prompt.user !== null || rendered.attachments.length + input.length > 0;
    const start = { carried: this.#window.loadCarriedOver({ isNested }), prompt, hasUserMessages };
    const publish = (event: AdapterEvent) => this.#publish(event);
    const conversation = new ConversationHistory(this.#settings, publish, start);
    if (conversation.startsCompacted) this.#window.onStart(conversation.history);
    return conversation;
  }

  #getPromptTexts(rendered: RenderedPrompt): PromptTexts {
    const system = createSystemText(rendered, this.#settings.codecs);
    return { system, user: getMessageText(rendered.messages, "user") };
  }

  /** Creates the items for everything since the last request, in the order that the model reads them. */
  #createNewItems(request: TurnRequest): readonly WireItem[] {
    const { turn, answers, delegatedResults, notes } = request;
    return [
      ...((turn === 1 && this.#userMessages) || []),
      ...delegatedResults.flatMap((call) => this.#hosted.createAnswer(call)),
      ...answers.map((answer) => ({ ...toOutputItem(answer) })),
      ...notes.map(developerMessage),
    ];
  }

  /** Replaces a lost container of the adapter and updates the request to use the new one. */
  async #replaceContainer(work: TurnWork, error: OpenAIRequestError): Promise<boolean> {
    const { signal, rendered } = work.request;
    const replaced = await this.#container.replace(error, rendered.promptName, signal);
    if (replaced) this.#useReplacement(work, replaced);
    return replaced !== null;
  }

  /** Returns the request for a turn that is sent again because the provider no longer has its response. */
  async #renewRequest(work: TurnWork): Promise<RequestBase> {
    const { signal, rendered } = work.request;
    const replaced = await this.#container.replaceUncertain(rendered.promptName, signal);
    if (replaced) this.#useReplacement(work, replaced);
    return work.base;
  }

  #useReplacement(work: TurnWork, { containerId, notes }: ReplacedContainer): void {
    work.conversation.replaceContainer(containerId, notes);
    work.base = this.#getRequestBase(work.request);
  }

  #publish(...events: readonly AdapterEvent[]): void {
    const { session, prompt, clock } = this.#settings;
    publishEvent({ session, prompt, adapterName: this.adapterName, clock }, ...events);
  }
}

/** Creates the messages with the prompt's attachments and the user's input. Only files take time. */
function loadUserMessages({
  rendered: { attachments },
  input = [],
}: TurnRequest): readonly WireItem[] | Promise<readonly WireItem[]> {
  return createTextMessage(attachments, input) ?? createUserMessages(attachments, input);
}

/** The state of one turn during the steps of `send`. */
interface TurnWork {
  readonly request: TurnRequest;
  readonly conversation: ConversationHistory;
  /** Notes from the workspace to the model. */
  readonly notes: readonly string[];
  /** Changes when the container is replaced. */
  base: RequestBase;
  /** The items that this turn adds to the conversation. */
  items: readonly WireItem[];
}

/** Drops the items that the error is about. The container in the request is alive. */
function repairHistory({ conversation, base }: TurnWork, error: OpenAIRequestError): boolean {
  const [alive = null] = findNamedContainers(base.value.tools ?? []);
  return conversation.repair(error, alive);
}
