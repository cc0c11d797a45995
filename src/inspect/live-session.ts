import type { StreamEvent } from "../adapter/evaluation-stream.ts";
import type { BusEvent } from "../session/event-map.ts";
import type { Session } from "../session/session.ts";
import type { SessionFeed } from "./inspector-source.ts";
import { LiveText } from "./live-text.ts";

/**
 * A session that runs in this process, for the inspector: the events of its bus, and the text of its turns while it
 * arrives. Create it before the evaluation starts; it keeps all events in memory until it is disposed.
 */
export class LiveSession implements SessionFeed, Disposable {
  readonly id: string;
  readonly #records: object[];
  readonly #subscriptions: Disposable[];
  readonly #onChange = new Set<() => void>();
  readonly #onText = new Set<(turn: number, delta: string | null) => void>();
  readonly #text = new LiveText();

  /** `earlier` are the stored records of a session that continues. */
  constructor(session: Session, earlier: readonly object[] = []) {
    const { id, createdAt, tags, bus } = session;
    this.id = id;
    this.#records = earlier.length > 0 ? [...earlier] : [{ kind: "session", id, createdAt, tags }];
    const onEvent = (event: BusEvent) => {
      const sessionId = "sessionId" in event ? event.sessionId : id;
      if (sessionId === id) this.#add(event);
    };
    // Subscribers of "*" do not receive reports.
    this.#subscriptions = [bus.subscribe("*", onEvent), bus.subscribe("EgressReported", onEvent)];
  }

  /**
   * Adds a part of a stream: `for await (const part of adapter.stream(prompt, { session })) live.addPart(part)`. Only
   * the parts with text matter, because the bus has the events.
   */
  addPart(part: StreamEvent): void {
    if (part.type === "text") this.#tell(part.turn, part.delta);
    else if (part.type === "restart") this.#tell(part.turn, null);
  }

  async *read(from: number): AsyncGenerator<unknown> {
    for (let n = from; n < this.#records.length; n++) yield this.#records[n];
  }

  watch(onChange: () => void): Disposable {
    return addTo(this.#onChange, onChange);
  }

  watchText(onText: (turn: number, delta: string | null) => void): Disposable {
    this.#text.replay(onText);
    return addTo(this.#onText, onText);
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  #add(event: BusEvent): void {
    if (event.type === "TurnProgressed" || event.type === "WorkspaceProgressed") return;
    this.#records.push({ kind: "event", event });
    if (event.type === "TurnCompleted") this.#tell(event.turn, null);
    for (const onChange of this.#onChange) onChange();
  }

  #tell(turn: number, delta: string | null): void {
    this.#text.add(turn, delta);
    for (const onText of this.#onText) onText(turn, delta);
  }
}

function addTo<Listener>(listeners: Set<Listener>, listener: Listener): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => listeners.delete(listener) };
}
