import { OutputsOnDemand } from "../../adapter/create-response.ts";
import type { HostedCall } from "../../adapter/model-client.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { withoutText } from "../codecs/message-text.ts";
import { mayBeHosted, type ResumePoint, type TurnItems } from "../history/resume-point.ts";
import { mapTools } from "../response/response.ts";
import type { WireItem } from "../wire.ts";
import type { ConversationSettings } from "./conversation-settings.ts";
import { isBuiltIn } from "./request-base-cache.ts";

/** The items of a conversation that hosted tools read, also after a compaction, and the tools that were offered. */
export class HostedItems {
  readonly #settings: Pick<ConversationSettings, "codecs" | "prompt">;
  /** Each turn's items that may belong to hosted tools: the outputs sent, then the response. */
  readonly #turns: (readonly WireItem[])[] = [];
  /** Every hosted tool that was offered, by name. */
  readonly #tools = new Map<string, HostedTool>();

  constructor(settings: Pick<ConversationSettings, "codecs" | "prompt">) {
    this.#settings = settings;
  }

  /** The items of all turns. */
  get items(): readonly WireItem[] {
    return this.#turns.flat();
  }

  /** Adds a turn and the tools that its request offered. */
  addTurn({ sent, answer }: TurnItems, offered: readonly HostedTool[]): void {
    this.#turns.push([...sent, ...answer].filter(mayBeHosted));
    for (const tool of offered) this.#tools.set(tool.name, tool);
  }

  /** Restores the turns of an interrupted evaluation. */
  resume({ earlier, sent, answer }: ResumePoint, offered: readonly HostedTool[]): void {
    this.#turns.push(earlier);
    this.addTurn({ sent, answer }, offered);
  }

  /** Creates the item that sends the result of a call that the provider delegated; none if it needs no item. */
  createAnswer(call: HostedCall): readonly WireItem[] {
    const tool = this.#tools.get(call.name);
    const codec = tool && this.#settings.codecs.get(tool.kind);
    return tool && codec?.answer ? [codec.answer(call, tool)] : [];
  }

  /**
   * Returns each hosted tool's output, which covers the calls of every turn and the last turn's text. Throws if a
   * codec cannot read its items. The built-in ones always can, so their outputs are read on demand.
   */
  readOutputs(): Iterable<readonly [name: string, output: unknown]> {
    const { codecs } = this.#settings;
    const areBuiltIn = [...this.#tools.values()].every(({ kind }) => isBuiltIn(codecs.get(kind)));
    return areBuiltIn ? new OutputsOnDemand(() => this.#parseOutputs()) : this.#parseOutputs();
  }

  #parseOutputs(): readonly (readonly [name: string, output: unknown])[] {
    const last = this.#turns.at(-1) ?? [];
    const items = [...this.#turns.slice(0, -1).flat().map(withoutText), ...last];
    const { codecs, prompt } = this.#settings;
    const rendered = { promptName: prompt.name, hostedTools: [...this.#tools.values()] };
    return mapTools({ rendered, codecs }, (codec, tool) => {
      const output = codec.parseOutput(items, tool);
      return output === null || output === undefined ? [] : [[tool.name, output] as const];
    });
  }
}
