import type { InspectorSource, SessionFeed } from "../../../src/inspect/inspector-source.ts";

/** Sessions in memory, for tests of the inspector's page. Tests add records while the page is open. */
export class MemorySource implements InspectorSource {
  readonly label = "memory";
  readonly onlySession = null;
  readonly #sessions: ReadonlyMap<string, SessionFeed>;

  constructor(sessions: Readonly<Record<string, SessionFeed>>) {
    this.#sessions = new Map(Object.entries(sessions));
  }

  async list() {
    const ids = [...this.#sessions.keys()];
    const sessions = ids.map((id) => ({ id, createdAt: null, run: null }));
    return { label: this.label, sessions, omitted: 0 };
  }

  async open(id: string): Promise<SessionFeed | null> {
    return this.#sessions.get(id) ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A session that has the events of an array, which may grow. */
export function createEventFeed(
  events: readonly object[],
  more: Omit<SessionFeed, "read"> = {},
): SessionFeed {
  return {
    async *read(from) {
      for (const event of events.slice(from)) yield { kind: "event", event };
    },
    ...more,
  };
}
