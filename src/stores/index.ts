/**
 * Session stores, which persist sessions across processes.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */
export {
  JsonlSessionStore,
  type JsonlSessionStoreOptions,
} from "./jsonl-session-store.ts";
export type { SessionTruncated } from "./session-file.ts";
