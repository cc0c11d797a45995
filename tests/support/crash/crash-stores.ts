import { join } from "node:path";
import type { SessionStore } from "../../../src/session/session-store.ts";
import { JsonlSessionStore } from "../../../src/stores/jsonl-session-store.ts";

/** The kinds of stores that crash tests can use. */
export type CrashStoreKind = "jsonl";

/** Creates a store in a scene's folder. The order has the details. */
type CreateCrashStore = (
  folder: string,
  details: Readonly<Record<string, string>>,
) => SessionStore & Partial<AsyncDisposable>;

/** Creates the stores of each kind. */
export const crashStores: Readonly<Record<CrashStoreKind, CreateCrashStore>> = {
  jsonl: (folder) => new JsonlSessionStore(join(folder, "sessions"), { onRepair: () => {} }),
};
