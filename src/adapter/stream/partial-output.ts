import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import type { OutputContract } from "../../prompt/output-contract.ts";
import type { DeepPartial, StreamEvent } from "../evaluation-stream.ts";
import type { PromptResponse } from "../prompt-response.ts";
import { completeJson } from "./complete-json.ts";
import type { LogCursor } from "./event-log.ts";
import type { ReaderSource } from "./log-reader.ts";

/** The text is parsed again when it has grown by 1/64, so that the cost stays linear. */
const GROWTH = 1 / 64;

/** Reads the output of an evaluation as it grows. */
export class PartialOutput<Output> implements ReaderSource<DeepPartial<Output>, Output> {
  readonly #shape: OutputContract["shape"] | null;
  #turn = 0;
  #text = "";
  #parseAt = 1;
  /** The completed JSON of the last value. */
  #lastJson: string | null = null;
  #lastValue: unknown;

  /** `contract` is `null` for output that is text. */
  constructor(contract: OutputContract | null) {
    this.#shape = contract?.shape ?? null;
  }

  read(cursor: LogCursor): DeepPartial<Output> | undefined {
    for (let event = cursor.take(); event; event = cursor.take()) this.#add(event);
    if (this.#text.length < this.#parseAt) return undefined;
    this.#parseAt = this.#text.length + Math.max(1, Math.ceil(this.#text.length * GROWTH));
    const value = this.#shape ? this.#parse(this.#shape) : this.#text;
    if (value === undefined) return undefined;
    this.#lastValue = value;
    return value as DeepPartial<Output>; // not validated: any part may be missing or wrong
  }

  finish({ output }: PromptResponse<Output>): DeepPartial<Output> | undefined {
    return output === this.#lastValue ? undefined : (output as DeepPartial<Output>);
  }

  #add(event: StreamEvent): void {
    if (event.type === "text") {
      if (event.turn !== this.#turn) this.#reset(event.turn);
      this.#text += event.delta;
    } else if (event.type === "restart") this.#reset(event.turn);
  }

  #reset(turn: number): void {
    this.#turn = turn;
    this.#text = "";
    this.#parseAt = 1;
    this.#lastJson = null;
  }

  #parse(shape: OutputContract["shape"]): unknown {
    const json = completeJson(this.#text, findStart(this.#text));
    if (json === null || json === this.#lastJson) return undefined;
    this.#lastJson = json;
    const parsed = parseJson(json);
    if (!parsed.ok) return undefined;
    const { value } = parsed;
    if (shape === "object") return isPlainObject(value) ? value : undefined;
    const items = isPlainObject(value) ? value["items"] : value;
    return Array.isArray(items) ? items : undefined;
  }
}

/** Finds the start of the JSON in an answer: the text itself, a JSON block, or the first bracket. */
function findStart(text: string): number {
  const first = text.search(/[{[]/);
  if (first < 0 || text.slice(0, first).trim() === "") return first < 0 ? text.length : first;
  const block = /```json[ \t]*\r?\n\s*/i.exec(text);
  return block ? block.index + block[0].length : first;
}
