import { checkKnownKeys, type KnownKeys } from "../base/errors.ts";
import type { SessionStore } from "../session/session-store.ts";
import type { ContractTest } from "./adapter-contract.ts";
import { checkpointCases, claimedCheckpointCases } from "./stores/checkpoints.ts";
import { claimCases } from "./stores/claims.ts";
import { recordCases } from "./stores/records.ts";
import type { StoreCase } from "./stores/store-case.ts";

/** Options of {@link sessionStoreContract}. */
export interface SessionStoreContractOptions {
  /**
   * Opens another store with the same data, as another process would. It is closed after the test.
   * @default the tests use one store
   */
  readonly another?: ((store: SessionStore) => SessionStore | Promise<SessionStore>) | undefined;
  /** Whether the store has claims. @default true */
  readonly claims?: boolean | undefined;
  /** Whether the store has checkpoints. @default true */
  readonly checkpoints?: boolean | undefined;
}

const contractKeys: KnownKeys<SessionStoreContractOptions> = {
  another: true,
  checkpoints: true,
  claims: true,
};

/**
 * Returns tests of the requirements for session stores. `make` creates an empty store for each test. A
 * store with `close` is closed after its test.
 *
 * @example
 * ```ts
 * import { mkdtemp } from "node:fs/promises";
 * import { test } from "vitest";
 * import { JsonlSessionStore } from "weakincentives/stores";
 * import { sessionStoreContract } from "weakincentives/testing";
 *
 * const createStore = async () => new JsonlSessionStore(await mkdtemp("/tmp/store-"));
 * for (const { name, run } of sessionStoreContract(createStore)) test(name, run);
 * ```
 */
export function sessionStoreContract(
  make: () => SessionStore | Promise<SessionStore>,
  options: SessionStoreContractOptions = {},
): readonly ContractTest[] {
  checkKnownKeys(options, "sessionStoreContract(options)", contractKeys);
  const { claims = true, checkpoints = true, another = (store) => store } = options;
  const cases = [
    ...recordCases,
    ...(claims ? claimCases : []),
    ...(checkpoints ? checkpointCases : []),
    ...(claims && checkpoints ? claimedCheckpointCases : []),
  ];
  return cases.map((one) => ({ name: one.name, run: () => runCase(one, make, another) }));
}

async function runCase(
  { check }: StoreCase,
  make: () => SessionStore | Promise<SessionStore>,
  another: (store: SessionStore) => SessionStore | Promise<SessionStore>,
): Promise<void> {
  const store = await make();
  const opened = new Set<SessionStore>([store]);
  const openAnother = async () => {
    const other = await another(store);
    opened.add(other);
    return other;
  };
  try {
    await check({ store, openAnother });
  } finally {
    for (const one of opened) {
      if ("close" in one && typeof one.close === "function") await one.close();
    }
  }
}
