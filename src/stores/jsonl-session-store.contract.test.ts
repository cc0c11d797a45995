import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { sessionStoreContract } from "../testing/session-store-contract.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "wink-contract-"));
});
afterEach(() => rm(directory, { recursive: true }));

const createStore = () => new JsonlSessionStore(join(directory, "sessions"));
const contract = sessionStoreContract(createStore, { another: createStore });
for (const { name, run } of contract) test(name, run);
