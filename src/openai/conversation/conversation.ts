import { type Announcement, announce } from "../../adapter/events.ts";
import type {
  HostedCall,
  ModelClient,
  Omission,
  Turn,
  TurnRequest,
} from "../../adapter/model-client.ts";
import { addUsage } from "../../base/usage.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { asEarlier } from "../codecs/said.ts";
import { checkZdrPrompt } from "../compaction/zdr.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { attachmentMessage } from "../request/attachments.ts";
import { checkHostedTools } from "../request/hosted-tool-gate.ts";
import { containersNamed, outputItem, requestOf } from "../request/request.ts";
import { eachTool, readResponse } from "../response/response.ts";
import { secretsOf, toolSecrets } from "../secrets.ts";
import type { WireItem, WireMessage } from "../wire.ts";
import { checkContainers } from "./container-check.ts";
import { ConversationContainer, type PromptWorkspace } from "./conversation-container.ts";
import { ConversationHistory, developerMessage } from "./conversation-history.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import { ConversationWindow } from "./conversation-window.ts";
import { type Answer, attemptExchange, type RequestBase, toEvaluationError } from "./exchange.ts";

/** One evaluation's conversation with the Responses API: what the loop in `evaluate` drives. */
export class Conversation implements ModelClient {
  readonly adapterName = "openai";
  readonly canContinue = true;
  readonly hostedTools: readonly HostedTool[];
  readonly #settings: ConversationSettings;
  readonly #container: ConversationContainer;
  readonly #window: ConversationWindow;
  #history: ConversationHistory | null = null;
  #base: CachedBase | null = null;
  #attachments: Promise<WireMessage | null> | null = null;
  #hasCheckedContainers = false;
  /** The items of each turn that may be about hosted tools: our answers, then the response. */
  readonly #turns: (readonly WireItem[])[] = [];
  /** Every hosted tool that was offered, by name. */
  readonly #tools = new Map<string, HostedTool>();

  constructor(settings: ConversationSettings, workspaces: readonly PromptWorkspace[] = []) {
    this.#settings = settings;
    this.hostedTools = settings.hostedTools;
    const publish = (event: Announcement) => this.#publish(event);
    this.#container = new ConversationContainer(settings, workspaces, publish);
    this.#window = new ConversationWindow(settings, publish);
  }

  /** Checks a prompt before anything is sent. Returns the hosted tools to leave out. */
  check(rendered: RenderedPrompt): readonly Omission[] {
    const { compaction, codecs, logger } = this.#settings;
    const omissions = checkHostedTools(rendered, this.#settings);
    this.#container.check(rendered);
    if (compaction.zdrMode) checkZdrPrompt(rendered, compaction);
    for (const tool of rendered.hostedTools) {
      const warning = codecs.get(tool.kind)?.warning?.(tool) ?? null;
      if (warning !== null) logger.warn(warning, { name: tool.name });
    }
    return omissions;
  }

  /** Sends one turn. What fails leaves the history as it was, apart from repairs. */
  async send(request: TurnRequest): Promise<Turn> {
    const work = await this.#prepare(request);
    try {
      await this.#append(work);
      await this.#compactIfNeeded(work);
      const answer = await this.#exchange(work);
      return await this.#absorb(work, answer);
    } catch (error) {
      work.conversation.restore();
      this.#container.interrupted();
      throw error;
    }
  }

  /** Removes what was made for this conversation alone. */
  async end(): Promise<void> {
    await this.#container.end();
  }

  /** The outputs of all turns: every call counts, but the text is that of the last turn. */
  *hostedOutputs(): Iterable<readonly [name: string, output: unknown]> {
    const last = this.#turns.at(-1) ?? [];
    const items = [...this.#turns.slice(0, -1).flat().map(asEarlier), ...last];
    const { codecs, prompt } = this.#settings;
    const tools = { rendered: { promptName: prompt.name, hostedTools: [...this.#tools.values()] } };
    yield* eachTool({ ...tools, codecs }, (codec, tool) => {
      const output = codec.parseOutput(items, tool);
      return output === null || output === undefined ? [] : [[tool.name, output] as const];
    });
  }

  /** Step 1: the container is ready, the request is made, and there is a history. */
  async #prepare(request: TurnRequest): Promise<TurnWork> {
    const { rendered, signal } = request;
    const notes = await this.#container.prepare(rendered.promptName, signal);
    const base = this.#requestBase(request);
    await this.#checkContainers(base, request);
    this.#history ??= this.#startHistory(request);
    this.#history.startTurn();
    return { request, conversation: this.#history, notes, base, items: [] };
  }

  /** Step 2: what has happened since the last request comes into the history. */
  async #append(work: TurnWork): Promise<void> {
    const { request, conversation, notes } = work;
    const items = await this.#newItems(request);
    const { gone } = this.#container;
    const { turn, rendered } = request;
    conversation.append({ turn, promptText: rendered.text, items, notes, gone });
    work.items = [...items, ...notes.map(developerMessage)];
  }

  /** Step 3: a history that is too long is made shorter, with this turn's items in it. */
  async #compactIfNeeded({ conversation, request, base, notes }: TurnWork): Promise<void> {
    const { rendered, signal, turn } = request;
    const measured = { base, rendered, signal };
    const isCompacted = await this.#window.compactIfNeeded(conversation.history, measured);
    if (isCompacted) conversation.keepCompacted(turn, notes);
  }

  /** Step 4: the request is sent, and once more if what it failed of can be mended. */
  async #exchange(work: TurnWork): Promise<Answer> {
    const { history } = work.conversation;
    const { signal, rendered } = work.request;
    const first = await attemptExchange(history, work.base, this.#settings, signal);
    if ("value" in first) return first;
    const isMended = (await this.#replaceContainer(work, first)) || repairHistory(work, first);
    const last = isMended
      ? await attemptExchange(history, work.base, this.#settings, signal)
      : first;
    if ("value" in last) return last;
    const { promptName } = rendered;
    throw (
      this.#container.explainLoss(last, promptName) ??
      toEvaluationError(last, work.base, promptName)
    );
  }

  /** Step 5: the answer is read, and comes into the history. */
  async #absorb({ conversation, ...work }: TurnWork, answer: Answer): Promise<Turn> {
    const { base, request } = work;
    const { rendered, signal } = request;
    const { codecs } = this.#settings;
    const { secrets } = base;
    const { value, requestId } = answer;
    const { turn, items } = readResponse(value, { rendered, codecs, requestId, secrets });
    conversation.complete(items);
    this.#turns.push([...work.items, ...items].filter(mayBeHosted));
    for (const tool of rendered.hostedTools) this.#tools.set(tool.name, tool);
    const { history } = conversation;
    this.#window.onAnswer(history, turn, items);
    const usage = await this.#container.afterTurn({ turn, items, tools: base.value.tools }, signal);
    if (isLast(turn)) await this.#window.onFinish(history, { base, rendered, signal });
    const own = addUsage(usage, this.#window.takeUsage());
    return { ...turn, usage: addUsage(turn.usage, own), history: history.step() };
  }

  /** The request without its input: made and serialised again only when it has changed. */
  #requestBase({ rendered, toolChoice }: TurnRequest): RequestBase {
    const known = this.#base;
    const { env } = this.#container;
    const isSame = known?.rendered === rendered && known.toolChoice === toolChoice;
    if (known && isSame && known.containerId === env.containerId) return known.base;
    const value = {
      ...requestOf(rendered, toolChoice, this.#settings, env),
      ...this.#window.requestFields,
    };
    const secrets = [...secretsOf(this.#settings.client), ...toolSecrets(value.tools ?? [])];
    const base = { value, text: JSON.stringify(value), secrets };
    this.#base = { rendered, toolChoice, containerId: env.containerId, base };
    return base;
  }

  /** Looks up the caller's containers, once: a request that names a dead one is wasted. */
  async #checkContainers({ value }: RequestBase, { signal, rendered }: TurnRequest): Promise<void> {
    const { client, checksContainers } = this.#settings;
    if (this.#hasCheckedContainers || !checksContainers) return;
    const own = this.#container.env.containerId;
    const named = [...containersNamed(value.tools ?? [])].filter((id) => id !== own);
    const { promptName } = rendered;
    if (named.length > 0) await checkContainers(named, client, { promptName, signal });
    this.#hasCheckedContainers = true;
  }

  #startHistory({ rendered, isNested = false }: TurnRequest): ConversationHistory {
    const carried = this.#window.carriedOver({ isNested });
    const conversation = new ConversationHistory(this.#settings, (event) => this.#publish(event), {
      ...carried,
      promptText: rendered.text,
    });
    if (conversation.startsCompacted) this.#window.onStart(conversation.history);
    return conversation;
  }

  /** What has happened since the last request, in the order in which the model reads it. */
  async #newItems({ turn, rendered, answers, performed, notes }: TurnRequest) {
    const { attachments } = rendered;
    const isAttached = turn === 1 && attachments.length > 0;
    if (isAttached) this.#attachments ??= attachmentMessage(attachments);
    const attached = isAttached ? await this.#attachments : null;
    return [
      ...(attached ? [{ ...attached }] : []),
      ...performed.flatMap((call) => this.#answerItems(call)),
      ...answers.map((answer) => ({ ...outputItem(answer) })),
      ...notes.map(developerMessage),
    ];
  }

  #answerItems(call: HostedCall): readonly WireItem[] {
    const tool = this.#tools.get(call.name);
    const codec = tool && this.#settings.codecs.get(tool.kind);
    return tool && codec?.answer ? [codec.answer(call, tool)] : [];
  }

  /** Puts another container in place of a dead one of ours; the request names the new one. */
  async #replaceContainer(work: TurnWork, error: OpenAIRequestError): Promise<boolean> {
    const { signal, rendered } = work.request;
    const replaced = await this.#container.replace(error, rendered.promptName, signal);
    if (!replaced) return false;
    work.conversation.replaceContainer(replaced.containerId, replaced.notes);
    work.base = this.#requestBase(work.request);
    return true;
  }

  #publish(event: Announcement): void {
    const { session, prompt, clock } = this.#settings;
    announce({ session, prompt, adapterName: this.adapterName, clock }, event);
  }
}

/** One turn on its way through the steps of `send`. */
interface TurnWork {
  readonly request: TurnRequest;
  readonly conversation: ConversationHistory;
  /** What the workspace has to tell the model. */
  readonly notes: readonly string[];
  /** Changes when the container is replaced. */
  base: RequestBase;
  /** What this turn adds to the conversation. */
  items: readonly WireItem[];
}

/** A request without its input, and what it was made from. */
interface CachedBase {
  readonly rendered: RenderedPrompt;
  readonly toolChoice: unknown;
  readonly containerId: string | null;
  readonly base: RequestBase;
}

/** Whether the model asks for nothing more. */
function isLast({ toolCalls, askedCalls = [] }: Turn): boolean {
  return toolCalls.length === 0 && askedCalls.length === 0;
}

/** No codec reads our own calls and reasoning: a long evaluation must not keep them. */
function mayBeHosted({ type }: WireItem): boolean {
  return type !== "function_call" && type !== "function_call_output" && type !== "reasoning";
}

/** Drops what the provider complains about; the container that the request names is alive. */
function repairHistory({ conversation, base }: TurnWork, error: OpenAIRequestError): boolean {
  const [alive = null] = containersNamed(base.value.tools ?? []);
  return conversation.repair(error, alive);
}
