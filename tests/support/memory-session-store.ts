import type { RecordWriter, SessionStore } from "../../src/session/session-store.ts";

/** Stores records as JSON text, like a file. `gate` delays every `append`. */
export class MemorySessionStore implements SessionStore {
  readonly lines = new Map<string, string[]>();
  readonly writers: (RecordWriter | undefined)[] = [];
  gate: Promise<void> = Promise.resolve();
  failure: unknown = null;

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    const line = JSON.stringify(record);
    this.writers.push(by);
    await this.gate;
    if (this.failure !== null) throw this.failure;
    const lines = this.lines.get(id) ?? [];
    lines.push(line);
    this.lines.set(id, lines);
  }

  async *read(id: string): AsyncGenerator<object> {
    for (const line of this.lines.get(id) ?? []) yield JSON.parse(line);
  }

  async list(): Promise<string[]> {
    return [...this.lines.keys()];
  }

  async delete(id: string): Promise<void> {
    this.lines.delete(id);
  }

  /** Returns the stored records, parsed. */
  records(id: string): unknown[] {
    return (this.lines.get(id) ?? []).map((line) => JSON.parse(line));
  }
}
