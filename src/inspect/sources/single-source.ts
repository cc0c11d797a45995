import type { InspectorSource, SessionFeed } from "../inspector-source.ts";
import type { SessionList } from "../session-list.ts";
import { addBytes } from "./store-source.ts";

/** The only session of a {@link SingleSource}. */
export interface SingleSourceOptions {
  readonly label: string;
  readonly id: string;
  readonly feed: SessionFeed;
  /** Reads the bytes of workspace files; `undefined` if they are not known. */
  readonly readBytes: SessionFeed["readBytes"] | undefined;
}

/** One session: of a file, or of this process. */
export class SingleSource implements InspectorSource {
  readonly label: string;
  readonly onlySession: string;
  readonly #feed: SessionFeed;

  constructor({ label, id, feed, readBytes }: SingleSourceOptions) {
    this.label = label;
    this.onlySession = id;
    this.#feed = readBytes ? addBytes(feed, readBytes) : feed;
  }

  async list(): Promise<SessionList> {
    const session = { id: this.onlySession, createdAt: null, run: null };
    return { label: this.label, sessions: [session], omitted: 0 };
  }

  async open(id: string): Promise<SessionFeed | null> {
    return id === this.onlySession ? this.#feed : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
