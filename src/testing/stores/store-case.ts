import type { SessionClaim, SessionStore } from "../../session/session-store.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { expectRejection, expectSame } from "../contract/expect.ts";

/** The store and the helpers of a case. */
export interface StoreSubject {
  /** The empty store under test. */
  readonly store: SessionStore;
  /** Opens another store with the same data, as another process would. */
  openAnother(): Promise<SessionStore>;
}

/** One requirement, and its check on an empty store. */
export interface StoreCase {
  /** Title of the test. */
  readonly name: string;
  check(subject: StoreSubject): Promise<void>;
}

/** Reads all records of a session. */
export async function readAll(
  store: SessionStore,
  id: string,
  from?: number,
): Promise<readonly object[]> {
  const records: object[] = [];
  const options = from === undefined ? undefined : { from };
  for await (const record of store.read(id, options)) records.push(record);
  return records;
}

/** Throws unless the session has these records, with the same text. */
export async function expectRecords(
  store: SessionStore,
  id: string,
  expected: readonly object[],
): Promise<void> {
  const texts = (records: readonly object[]) => records.map((record) => JSON.stringify(record));
  expectSame(texts(await readAll(store, id)), texts(expected), `the records of ${id}`);
}

/** Throws unless `work` is refused with a `SessionStoreError`. */
export async function expectRefusal(work: Promise<unknown>): Promise<SessionStoreError> {
  return await expectRejection(work, SessionStoreError);
}

/** Claims a session. Throws if the store has no claims. */
export async function claim(
  store: SessionStore,
  id: string,
  owner?: string,
): Promise<SessionClaim> {
  if (!store.claim) throw new Error("The store has no claim(). Pass { claims: false }.");
  return await store.claim(id, owner === undefined ? undefined : { owner });
}

/** Throws unless an error names the claim that is the reason for it. */
export function expectHeld(error: SessionStoreError, { owner, since }: SessionClaim): void {
  expectSame(
    { owner: error.owner, since: error.since },
    { owner, since },
    "the holder that the error names",
  );
  for (const part of [owner, since]) {
    if (!error.message.includes(part)) throw new Error(`"${part}" is not in "${error.message}"`);
  }
}
