/**
 * Stores: where sessions are kept, so that they survive the process.
 *
 * A name added here is public: it gets a line in CHANGELOG.md in the same commit.
 */
export {
  JsonlSessionStore,
  type JsonlSessionStoreOptions,
} from "./jsonl-session-store.ts";
export type { SessionTruncated } from "./session-file.ts";
