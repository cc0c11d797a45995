import { type Announcement, announce } from "../../adapter/announce.ts";
import type {
  HostedCall,
  ModelClient,
  Omission,
  Turn,
  TurnRequest,
} from "../../adapter/model-client.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { maybeTextAt, recordAt } from "../../base/reading.ts";
import { addUsage } from "../../base/usage.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { Session } from "../../session/session.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { asEarlier } from "../codecs/said.ts";
import type { CompactionSettings } from "../compaction/compaction-config.ts";
import { checkZdrPrompt } from "../compaction/zdr.ts";
import type { OpenAIRequestError } from "../errors/request-error.ts";
import { History } from "../history/history.ts";
import { historySlice } from "../history/history-slice.ts";
import { containerOf } from "../history/repairs.ts";
import type { OpenAIClient } from "../http/client.ts";
import type { Patience } from "../http/patience.ts";
import { attachmentMessage } from "../request/attachments.ts";
import { checkHostedTools, type Gate } from "../request/hosted-tool-gate.ts";
import { outputItem, type RequestSettings, requestOf } from "../request/request.ts";
import { toolSecrets } from "../request/tool-secrets.ts";
import { eachTool, readResponse } from "../response/response.ts";
import { secretsOf } from "../secrets.ts";
import type { WireItem, WireMessage, WireRequest, WireTool } from "../wire.ts";
import type { ContainerWorkspace } from "../workspace/container-workspace.ts";
import { checkContainers, containersNamed } from "./container-check.ts";
import { ConversationContainer } from "./conversation-container.ts";
import { ConversationWindow } from "./conversation-window.ts";
import { Exchange, type Rest } from "./exchange.ts";

/** What one evaluation's conversation is made with. */
export interface ConversationSettings extends RequestSettings, Gate {
  readonly client: OpenAIClient;
  readonly timeoutMs: number;
  readonly hostedTools: readonly HostedTool[];
  /** Whether containers that the caller names are looked for first. */
  readonly checksContainers: boolean;
  readonly prompt: Prompt;
  readonly session: Session;
  /** Whether it goes on from the session's stored history. */
  readonly continues: boolean;
  /** The workspace that the prompt has, if it has one. */
  readonly workspace: ContainerWorkspace | null;
  /** How requests about containers are sent again. */
  readonly patience: Patience;
  readonly compaction: CompactionSettings;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One evaluation's conversation with the Responses API: what `evaluate` drives. */
export class Conversation implements ModelClient {
  readonly adapterName = "openai";
  readonly canContinue = true;
  readonly hostedTools: readonly HostedTool[];
  readonly #settings: ConversationSettings;
  readonly #exchange: Exchange;
  #history: History | null = null;
  #attached: Promise<WireMessage | null> | null = null;
  #checked = false;
  /** Of each turn, as far as hosted tools go: our answers to the calls before it, then what came back. */
  readonly #turns: (readonly WireItem[])[] = [];
  readonly #tools = new Map<string, HostedTool>();
  /** Items that the provider would not take. */
  readonly #unwanted = new WeakSet<WireItem>();
  readonly #container: ConversationContainer;
  readonly #window: ConversationWindow;
  /** The turn whose items are in the history already, though its request has failed. */
  #isIn: { readonly turn: number; readonly told: ReadonlySet<string> } | null = null;
  /** Of how many lost containers nothing is in the history any more. */
  #forgotten = 0;
  #rest: MadeRest | null = null;

  constructor(settings: ConversationSettings) {
    this.#settings = settings;
    this.hostedTools = settings.hostedTools;
    this.#exchange = new Exchange(settings);
    const announce = (event: Announcement) => this.#announce(event);
    this.#container = new ConversationContainer(settings, announce);
    this.#window = new ConversationWindow(settings, announce);
  }

  check(rendered: RenderedPrompt): readonly Omission[] {
    const omissions = checkHostedTools(rendered, this.#settings);
    this.#container.check(rendered);
    checkZdrPrompt(rendered, this.#settings.compaction);
    for (const tool of rendered.hostedTools) warnOfBothLists(tool, this.#settings.logger);
    return omissions;
  }

  async send(request: TurnRequest): Promise<Turn> {
    const { rendered, signal } = request;
    const told = await this.#container.prepare(rendered.promptName, signal);
    const rest = this.#restOf(request);
    await this.#checkContainers(rest.value, request);
    this.#history ??= this.#begin(request);
    const history = this.#history;
    let before = history.mark();
    try {
      history.prompt(rendered.text);
      const added = [...(await this.#newItems(request)), ...told.map(developerMessage)];
      const isIn = this.#isIn?.turn === request.turn ? this.#isIn.told : null;
      history.add(isIn ? told.filter((note) => !isIn.has(note)).map(developerMessage) : added);
      this.#forgetGone(history);
      this.#tell("a call had no whole arguments or no output", history.settle());
      if (await this.#window.before(history, { rest, rendered, signal })) {
        before = history.mark(); // what came in with this turn is compacted with the rest
        this.#isIn = { turn: request.turn, told: new Set(told) };
      }
      const { value, requestId } = await this.#exchange.create(history, rest, {
        signal,
        promptName: rendered.promptName,
        repaired: (reason, dropped) => this.#tell(reason, dropped),
        replaced: (error) => this.#replaced(error, history, request),
        lost: (error) => this.#container.lost(error, rendered.promptName),
      });
      const { codecs } = this.#settings;
      const { secrets } = rest;
      const { turn, items } = readResponse(value, { rendered, codecs, requestId, secrets });
      history.add(items);
      this.#turns.push([...added, ...items].filter(mayBeHosted));
      for (const tool of rendered.hostedTools) this.#tools.set(tool.name, tool);
      logContainers(this.#settings.logger, turn, rest.value.tools);
      this.#isIn = null;
      this.#window.answered(history, turn, items);
      const usage = await this.#container.turned(turn, items, signal);
      if (isLast(turn)) await this.#window.finished(history, { rest, rendered, signal });
      const own = addUsage(usage, this.#window.takeUsage());
      return { ...turn, usage: addUsage(turn.usage, own), history: history.step() };
    } catch (error) {
      history.restore(before);
      history.drop((item) => this.#unwanted.has(item)); // what was mended stays mended
      this.#container.interrupted();
      throw error;
    }
  }

  /** Gives up what was made for this conversation alone. */
  async end(): Promise<void> {
    await this.#container.end();
  }

  /** Over all turns: every call counts, and what was said in earlier turns has no place in the text. */
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

  /** The request without its input, made and serialised anew only where it has changed. */
  #restOf({ rendered, toolChoice }: TurnRequest): Rest {
    const known = this.#rest;
    const env = this.#container.env;
    const isSame = known?.for === rendered && known.choice === toolChoice;
    if (known && isSame && known.containerId === env.containerId) return known.is;
    const value = {
      ...requestOf(rendered, toolChoice, { ...this.#settings, env }),
      ...this.#window.fields,
    };
    const secrets = [...secretsOf(this.#settings.client), ...toolSecrets(value.tools ?? [])];
    const is = { value, text: JSON.stringify(value), secrets };
    this.#rest = { for: rendered, choice: toolChoice, containerId: env.containerId, is };
    return is;
  }

  /** Drops what ran in containers of ours that are no more: looked for only when one was lost. */
  #forgetGone(history: History): void {
    const { gone } = this.#container;
    if (gone.size === this.#forgotten) return;
    this.#forgotten = gone.size;
    const past = history.drop((item) => gone.has(containerOf(item) ?? ""));
    this.#tell("the container that calls ran in is gone", past);
  }

  /** The request in another container, where its own is gone and was ours. */
  async #replaced(
    error: OpenAIRequestError,
    history: History,
    request: TurnRequest,
  ): Promise<Rest | null> {
    const { signal, rendered } = request;
    const replaced = await this.#container.replace(error, rendered.promptName, signal);
    if (!replaced) return null;
    const dropped = history.drop((item) => containerOf(item) === replaced.containerId);
    this.#tell(`the container "${replaced.containerId}" is gone`, dropped);
    history.add(replaced.notes.map(developerMessage));
    return this.#restOf(request);
  }

  async #checkContainers({ tools = [] }: WireRequest, request: TurnRequest): Promise<void> {
    const { client, checksContainers } = this.#settings;
    if (this.#checked || !checksContainers) return;
    const { signal, rendered } = request;
    const { promptName } = rendered;
    const own = this.#container.env.containerId;
    const named = [...containersNamed(tools)].filter((id) => id !== own);
    await checkContainers(named, client, { promptName, signal });
    this.#checked = true;
  }

  /** What is carried over from a compacted conversation comes after the prompt. */
  #begin({ rendered, isNested = false }: TurnRequest): History {
    const { session, continues, modelConfig } = this.#settings;
    session.register(historySlice);
    const { items: carried, discarded } = this.#window.carried({ isNested });
    const items = continues ? session.get(historySlice) : [];
    const history = new History({ stored: modelConfig.store !== false, items });
    this.#tell("the stored history was torn", history.dropped);
    if (discarded)
      this.#tell(
        discarded,
        history.drop(({ type }) => type === "compaction"),
      );
    if (items.length > 0 || carried.length === 0) return history;
    history.prompt(rendered.text);
    history.add(carried);
    this.#window.begun(history);
    return history;
  }

  /** What has come about since the last request, in the order the model is to read it. */
  async #newItems({ turn, rendered, answers, performed, notes }: TurnRequest) {
    this.#attached ??= attachmentMessage(rendered.attachments);
    const attached = turn === 1 ? await this.#attached : null;
    return [
      ...(attached ? [{ ...attached }] : []),
      ...performed.flatMap((call) => this.#answerOf(call)),
      ...answers.map((answer) => ({ ...outputItem(answer) })),
      ...notes.map(developerMessage),
    ];
  }

  #answerOf(call: HostedCall): readonly WireItem[] {
    const tool = this.#tools.get(call.name);
    const codec = tool && this.#settings.codecs.get(tool.kind);
    return tool && codec?.answer ? [codec.answer(call, tool)] : [];
  }

  #tell(reason: string, dropped: readonly WireItem[]): void {
    if (dropped.length === 0) return;
    for (const item of dropped) this.#unwanted.add(item);
    const { logger } = this.#settings;
    logger.warn("the history was repaired", { reason, dropped: dropped.length });
    this.#announce({
      type: "HistoryRepaired",
      reason,
      dropped: dropped.map(({ type, id }) => ({
        type: typeof type === "string" ? type : "unknown",
        id: typeof id === "string" ? id : null,
      })),
    });
  }

  #announce(event: Announcement): void {
    const { session, prompt, clock } = this.#settings;
    announce({ session, prompt, adapterName: this.adapterName, clock }, event);
  }
}

/** A request without its input, and what it was made from. */
interface MadeRest {
  readonly for: RenderedPrompt;
  readonly choice: unknown;
  readonly containerId: string | null;
  readonly is: Rest;
}

/** Whether nothing is asked of us any more. */
function isLast({ toolCalls, askedCalls = [] }: Turn): boolean {
  return toolCalls.length === 0 && askedCalls.length === 0;
}

/** Calls of our own tools and reasoning are no codec's: a long evaluation is not to hold on to them. */
function mayBeHosted({ type }: WireItem): boolean {
  return type !== "function_call" && type !== "function_call_output" && type !== "reasoning";
}

function developerMessage(content: string): WireItem {
  return { type: "message", role: "developer", content };
}

/** In which container of which size code ran: what one asks for when it fails. */
function logContainers(logger: Logger, { hostedCalls }: Turn, tools: readonly WireTool[] = []) {
  for (const { name, kind, callId, containerId } of hostedCalls) {
    if (containerId === undefined) continue;
    const tool: WireItem = { ...tools.find(({ type }) => type === kind) };
    const place = { ...recordAt(tool, "environment"), ...recordAt(tool, "container") };
    const memoryLimit = maybeTextAt(place, "memory_limit");
    logger.info("hosted code ran", { name, callId, containerId, memoryLimit });
  }
}

/** OpenAI documents one list or the other; with both it has been seen to keep to neither. */
function warnOfBothLists({ name, kind, config }: HostedTool, logger: Logger): void {
  const { allowed, blocked } = Object(Object(config).domainFilter);
  if (kind !== "web_search" || !allowed?.length || !blocked?.length) return;
  logger.warn("a search that both allows and blocks domains may keep to neither list", { name });
}
