import type { HistoryStep } from "../../adapter/model-client.ts";
import type { WireItem } from "../wire.ts";
import { ItemText, itemJson } from "./item-text.ts";
import { containerOf } from "./repairs.ts";
import { fitting, type Keeping, lowered, Watch, wellFormed, without } from "./well-formed.ts";

/** What a `History` is made from. */
export interface HistoryOptions extends Keeping {
  /** Of an earlier conversation, which goes on. @default none */
  readonly items?: readonly object[] | undefined;
}

/** A moment of a history, for its `restore`; it stays good whatever happens. */
export interface HistoryMark {
  readonly layout: Layout;
  readonly count: number;
  readonly prompt: number | null;
}

/**
 * A conversation as the provider's own items. Each is serialised once in its life, when it comes;
 * neither a request nor a mark costs more for a longer conversation.
 */
export class History {
  /** What of an earlier conversation could not be taken over, because the provider would refuse it. */
  readonly dropped: readonly WireItem[];
  readonly #keeping: Keeping;
  #layout: Layout = { items: [], text: new ItemText() };
  #watch: Watch;
  /** Where the prompt is. */
  #prompt: number | null = null;
  /** The items that were there at the last step, as far as they are known to be there still. */
  #told: { readonly items: readonly WireItem[]; readonly count: number };

  /** Throws `WinkError` for items that are no JSON, as does whatever adds one. */
  constructor({ stored, items = [] }: HistoryOptions) {
    this.#keeping = { stored };
    this.#watch = new Watch(this.#keeping);
    const { items: kept, dropped } = wellFormed(items, this.#keeping);
    this.dropped = dropped;
    this.add(kept);
    this.#told = { items: this.#layout.items, count: commonLength(items, kept) };
  }

  /** As they came; the list changes with the history. */
  get items(): readonly WireItem[] {
    return this.#layout.items;
  }

  get length(): number {
    return this.#layout.items.length;
  }

  /** All but the prompt, as they are sent. */
  get window(): readonly WireItem[] {
    const rest = this.items.filter((_item, place) => place !== this.#prompt);
    return rest.map((item) => lowered(item, this.#keeping));
  }

  /** How many bytes all items have, as they are sent. */
  get bytes(): number {
    return this.#layout.text.length;
  }

  /** The containers that calls name. */
  containerIds(): ReadonlySet<string> {
    return new Set(this.items.map(containerOf).filter((id) => id !== null));
  }

  /** What the model is to go by: added at first, replaced where it stands when it is another. */
  prompt(text: string): void {
    const message = { type: "message", role: "system", content: text };
    const place = this.#prompt;
    if (place === null) {
      this.add([message]);
      this.#prompt = this.length - 1;
    } else if (this.items[place]?.["content"] !== text) {
      this.#replace(place, message);
    }
  }

  /** Adds all of them, or none if one is no JSON. */
  add(items: readonly WireItem[]): void {
    const texts = items.map((item) => itemJson(lowered(item, this.#keeping)));
    for (const text of texts) this.#layout.text.add(text);
    for (const item of items) {
      this.#layout.items.push(item);
      this.#watch.see(item);
    }
  }

  /** Drops what the provider would refuse as things are, and says what that was. */
  settle(): readonly WireItem[] {
    return this.#watch.whole ? [] : this.#keep(fitting(this.items, this.#keeping));
  }

  /** Drops the items that `names` picks and what makes no sense without them, and says which. */
  drop(names: (item: WireItem) => boolean): readonly WireItem[] {
    return this.#keep(without(this.items, names));
  }

  /** Becomes the prompt, and these in place of everything else. */
  compacted(window: readonly WireItem[]): void {
    const prompt = this.#prompt === null ? undefined : this.items[this.#prompt];
    this.#become({ items: [], text: new ItemText() }, null);
    if (prompt) {
      this.add([prompt]);
      this.#prompt = 0;
    }
    this.add(window);
  }

  /** The history as it is now, for `restore`. */
  mark(): HistoryMark {
    return { layout: this.#layout, count: this.length, prompt: this.#prompt };
  }

  /** Undoes all that came after the mark was taken; steps that were told stay told. */
  restore({ layout, count, prompt }: HistoryMark): void {
    if (layout === this.#layout && count === this.length) return;
    // A copy: marks that were taken later must not see what is added now.
    const items = layout.items.slice(0, count);
    this.#become({ items, text: layout.text.prefix(count) }, prompt);
  }

  /** What has changed since the last step. */
  step(): HistoryStep {
    const { items, count } = this.#told;
    // Of a list that is only added to, all that was told is still there.
    const kept = items === this.items ? count : commonLength(items.slice(0, count), this.items);
    this.#told = { items: this.items, count: this.length };
    return Object.freeze({ kept, added: Object.freeze(this.items.slice(kept)) });
  }

  /**
   * The bytes of a request: the items as `input`, and the fields of `rest`, the JSON of an object
   * that has at least one. They are good until the next `add`, `prompt` or `body`.
   */
  body(rest: string): Uint8Array<ArrayBuffer> {
    return this.#layout.text.request(rest);
  }

  /** The same as `body`, for clients that serialise it themselves. */
  value<Rest extends object>(rest: Rest): { readonly input: readonly WireItem[] } & Rest {
    return { input: this.items.map((item) => lowered(item, this.#keeping)), ...rest };
  }

  #replace(place: number, item: WireItem): void {
    const text = this.#layout.text.prefix(place);
    text.add(itemJson(item));
    for (let later = place + 1; later < this.length; later++) text.take(this.#layout.text, later);
    this.#become({ items: this.items.with(place, item), text }, this.#prompt);
  }

  #keep(stays: readonly boolean[]): readonly WireItem[] {
    const first = stays.indexOf(false);
    if (first === -1) return [];
    const text = this.#layout.text.prefix(first);
    for (let place = first; place < this.length; place++) {
      if (stays[place]) text.take(this.#layout.text, place);
    }
    const dropped = this.items.filter((_item, place) => !stays[place]);
    const items = this.items.filter((_item, place) => stays[place]);
    this.#become({ items, text }, placeAfter(this.#prompt, stays));
    return dropped;
  }

  #become(layout: Layout, prompt: number | null): void {
    this.#layout = layout;
    this.#prompt = prompt;
    this.#watch = new Watch(this.#keeping);
    for (const item of layout.items) this.#watch.see(item);
  }
}

/** Items and their bytes: both are only added to, so that whoever has marked one finds it again. */
interface Layout {
  readonly items: WireItem[];
  readonly text: ItemText;
}

function commonLength(some: readonly object[], others: readonly object[]): number {
  const differs = some.findIndex((item, place) => item !== others[place]);
  return differs === -1 ? some.length : differs;
}

/** Where the item at `place` is once the others are gone; `null` if it goes itself. */
function placeAfter(place: number | null, stays: readonly boolean[]): number | null {
  if (place === null || !stays[place]) return null;
  return stays.slice(0, place).filter(Boolean).length;
}
