import type { ServerResponse } from "node:http";
import type { Entry } from "./entry.ts";
import type { SessionFollower } from "./followed-session.ts";
import type { SessionMessage } from "./session-message.ts";
import type { SessionSummary } from "./session-summary.ts";

/** How many entries one message has, so that the page can paint between two of them. */
const BATCH = 1_000;
const PING_MS = 15_000;

/**
 * Sends the changes of a session as server-sent events. A slow reader does not fill the memory: of an entry that changes
 * several times before it can be sent, only the last state is sent, and of a text that waits only the end.
 */
export class EventChannel implements SessionFollower, Disposable {
  readonly #response: ServerResponse;
  readonly #ping: NodeJS.Timeout;
  #waiting = new Map<string, Entry>();
  #summary: SessionSummary | null = null;
  /** At most two messages: the end of the text before, and the text that has arrived since. */
  #text: readonly TextMessage[] = [];
  #isLoaded = false;
  #isSending = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#ping = setInterval(() => response.write(":\n\n"), PING_MS);
    this.#ping.unref();
  }

  onEntries(entries: readonly Entry[]): void {
    for (const entry of entries) this.#waiting.set(entry.key, entry);
    this.#send();
  }

  onSummary(summary: SessionSummary): void {
    this.#summary = summary;
    this.#send();
  }

  onLoaded(): void {
    this.#isLoaded = true;
    this.#send();
  }

  onText(turn: number, delta: string | null): void {
    this.#text = delta === null ? [END_OF_TEXT] : addText(this.#text, turn, delta);
    this.#send();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ping);
  }

  /** Sends everything that waits, as fast as the reader takes it. */
  #send(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => {
      this.#isSending = false;
      for (let message = this.#take(); message; message = this.#take()) {
        const isTaken = this.#response.write(`data: ${JSON.stringify(message)}\n\n`);
        if (isTaken) continue;
        this.#isSending = true;
        this.#response.once("drain", () => {
          this.#isSending = false;
          this.#send();
        });
        return;
      }
    });
  }

  #take(): SessionMessage | null {
    if (this.#waiting.size > 0) return { type: "entries", entries: this.#takeEntries() };
    if (this.#summary) {
      const summary = this.#summary;
      this.#summary = null;
      return { type: "summary", summary };
    }
    if (this.#isLoaded) {
      this.#isLoaded = false;
      return { type: "loaded" };
    }
    const [text = null, ...rest] = this.#text;
    this.#text = rest;
    return text;
  }

  #takeEntries(): readonly Entry[] {
    const batch: Entry[] = [];
    for (const [key, entry] of this.#waiting) {
      if (batch.length === BATCH) break;
      batch.push(entry);
      this.#waiting.delete(key);
    }
    return batch;
  }
}

type TextMessage = Extract<SessionMessage, { readonly type: "text" }>;

const END_OF_TEXT: TextMessage = { type: "text", turn: null, delta: "" };
/** Maximum length of the text that waits, in UTF-16 units. */
const MAX_TEXT = 20_000;

/** Joins a delta with the text of its turn that waits. If that is too long, the page begins again with its end. */
function addText(
  waiting: readonly TextMessage[],
  turn: number,
  delta: string,
): readonly TextMessage[] {
  const last = waiting.at(-1);
  const text = last?.turn === turn ? `${last.delta}${delta}` : delta;
  const message: TextMessage = { type: "text", turn, delta: text.slice(-MAX_TEXT) };
  const isFirst = last === undefined || (waiting.length === 1 && last.turn === turn);
  return isFirst && text.length <= MAX_TEXT ? [message] : [END_OF_TEXT, message];
}
