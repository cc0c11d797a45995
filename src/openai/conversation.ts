import { announce } from "../adapter/announce.ts";
import type {
  HostedCall,
  ModelClient,
  Omission,
  Turn,
  TurnRequest,
} from "../adapter/model-client.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { maybeTextAt, recordAt } from "../base/reading.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/render.ts";
import type { Session } from "../session/session.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { attachmentMessage } from "./attachments.ts";
import type { OpenAIClient } from "./client.ts";
import { checkContainers, containersNamed } from "./container-check.ts";
import { Exchange, type Rest } from "./exchange.ts";
import { History } from "./history.ts";
import { historySlice } from "./history-slice.ts";
import { checkHostedTools, type Gate } from "./hosted-tool-gate.ts";
import { outputItem, type RequestSettings, requestOf } from "./request.ts";
import { eachTool, readResponse } from "./response.ts";
import { asEarlier } from "./said.ts";
import { secretsOf } from "./secrets.ts";
import { toolSecrets } from "./tool-secrets.ts";
import type { WireItem, WireMessage, WireRequest, WireTool } from "./wire.ts";

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
  /** Of each turn: our answers to the calls before it, then what came back. */
  readonly #turns: (readonly WireItem[])[] = [];
  readonly #tools = new Map<string, HostedTool>();
  /** Items that the provider would not take. */
  readonly #unwanted = new WeakSet<WireItem>();
  #rest: { readonly for: RenderedPrompt; readonly choice: unknown; readonly is: Rest } | null =
    null;

  constructor(settings: ConversationSettings) {
    this.#settings = settings;
    this.hostedTools = settings.hostedTools;
    this.#exchange = new Exchange(settings);
  }

  check(rendered: RenderedPrompt): readonly Omission[] {
    const omissions = checkHostedTools(rendered, this.#settings);
    for (const tool of rendered.hostedTools) warnOfBothLists(tool, this.#settings.logger);
    return omissions;
  }

  async send(request: TurnRequest): Promise<Turn> {
    const { rendered, signal } = request;
    const rest = this.#restOf(request);
    await this.#checkContainers(rest.value, request);
    this.#history ??= this.#begin();
    const history = this.#history;
    const before = history.mark();
    try {
      history.prompt(rendered.text);
      const added = await this.#newItems(request);
      history.add(added);
      this.#tell("a call had no whole arguments or no output", history.settle());
      const { value, requestId } = await this.#exchange.create(history, rest, {
        signal,
        promptName: rendered.promptName,
        repaired: (reason, dropped) => this.#tell(reason, dropped),
      });
      const { codecs } = this.#settings;
      const { secrets } = rest;
      const { turn, items } = readResponse(value, { rendered, codecs, requestId, secrets });
      history.add(items);
      this.#turns.push([...added, ...items]);
      for (const tool of rendered.hostedTools) this.#tools.set(tool.name, tool);
      logContainers(this.#settings.logger, turn, rest.value.tools);
      return { ...turn, history: history.step() };
    } catch (error) {
      history.restore(before);
      history.drop((item) => this.#unwanted.has(item)); // what was mended stays mended
      throw error;
    }
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
    if (known && known.for === rendered && known.choice === toolChoice) return known.is;
    const value = requestOf(rendered, toolChoice, this.#settings);
    const secrets = [...secretsOf(this.#settings.client), ...toolSecrets(value.tools ?? [])];
    const is = { value, text: JSON.stringify(value), secrets };
    this.#rest = { for: rendered, choice: toolChoice, is };
    return is;
  }

  async #checkContainers({ tools = [] }: WireRequest, request: TurnRequest): Promise<void> {
    const { client, checksContainers } = this.#settings;
    if (this.#checked || !checksContainers) return;
    const { signal, rendered } = request;
    const { promptName } = rendered;
    await checkContainers(containersNamed(tools), client, { promptName, signal });
    this.#checked = true;
  }

  #begin(): History {
    const { session, continues, modelConfig } = this.#settings;
    session.register(historySlice);
    const items = continues ? session.get(historySlice) : [];
    const history = new History({ stored: modelConfig.store !== false, items });
    this.#tell("the stored history was torn", history.dropped);
    return history;
  }

  /** What has come about since the last request, in the order the model is to read it. */
  async #newItems({ turn, rendered, answers, performed, notes }: TurnRequest) {
    this.#attached ??= attachmentMessage(rendered.attachments);
    const attached = turn === 1 ? await this.#attached : null;
    const said = notes.map((content) => ({ type: "message", role: "developer", content }));
    return [
      ...(attached ? [{ ...attached }] : []),
      ...performed.flatMap((call) => this.#answerOf(call)),
      ...answers.map((answer) => ({ ...outputItem(answer) })),
      ...said,
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
    const { session, prompt, clock, logger } = this.#settings;
    const { adapterName } = this;
    logger.warn("the history was repaired", { reason, dropped: dropped.length });
    announce(
      { session, prompt, adapterName, clock },
      {
        type: "HistoryRepaired",
        reason,
        dropped: dropped.map(({ type, id }) => ({
          type: typeof type === "string" ? type : "unknown",
          id: typeof id === "string" ? id : null,
        })),
      },
    );
  }
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
