import type { SessionStore } from "../../session/session-store.ts";

/** Creates a store of the session `"contract"`, in memory, as JSON. */
export function createContractStore(): SessionStore {
  const records: string[] = [];
  return {
    append: async (_id, record) => void records.push(JSON.stringify(record)),
    async *read() {
      for (const record of [...records]) yield JSON.parse(record);
    },
    list: async () => ["contract"],
    delete: async () => void records.splice(0),
  };
}
