import { describe, expect, test, vi } from "vitest";
import { createPlainStore, MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { systemClock } from "../base/clock.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { SharedClaim } from "./shared-claim.ts";

function createClaims() {
  const store = new MemorySessionStore();
  const clock = fakeClock();
  return { store, clock, shared: new SharedClaim(store, "s", clock) };
}

describe("SharedClaim", () => {
  test("makes one claim for all users and ends it with the last one", async () => {
    const { store, shared } = createClaims();
    expect(await shared.current).toBeNull();
    const [first, second] = await Promise.all([shared.acquire(), shared.acquire()]);
    expect(first).toBe(second);
    expect(await shared.current).toBe(first);
    await shared.release();
    expect(store.claims.get("s")).toBe(first);
    await shared.release();
    expect(store.claims.size).toBe(0);
    expect(await shared.current).toBeNull();
  });

  test("claims again only after the last claim has ended", async () => {
    const { store, shared } = createClaims();
    const first = await shared.acquire();
    const releasing = shared.release();
    const second = await shared.acquire();
    expect(second?.fence).toBeGreaterThan(first?.fence ?? Number.NaN);
    await releasing;
    expect(store.claims.get("s")).toBe(second);
  });

  test("has no claim in a store without claims", async () => {
    const shared = new SharedClaim(createPlainStore("claim"), "s", systemClock);
    expect(await shared.acquire({ ifClaimed: "wait" })).toBeNull();
    await shared.release();
  });

  test("refuses a session that another writer holds, and can claim it later", async () => {
    const { store, shared } = createClaims();
    const other = await store.claim("s", { owner: "another process" });
    await expect(shared.acquire()).rejects.toMatchObject({ owner: "another process" });
    await other.release();
    expect(await shared.acquire()).toMatchObject({ fence: 2 });
  });

  test("waits until the other writer releases the session, asking every 200 ms", async () => {
    const { store, clock, shared } = createClaims();
    const other = await store.claim("s", { owner: "another process" });
    const claim = vi.spyOn(store, "claim");
    const waiting = shared.acquire({ ifClaimed: "wait" });
    await vi.waitFor(() => expect(clock.sleeping).toBe(1));
    await clock.advance(200);
    await vi.waitFor(() => expect(clock.sleeping).toBe(1));
    expect(claim).toHaveBeenCalledTimes(2);
    await other.release();
    await clock.advance(200);
    expect(await waiting).toMatchObject({ owner: "this process" });
  });

  test("ends the wait with the signal's reason", async () => {
    const { store, clock, shared } = createClaims();
    const other = await store.claim("s");
    const controller = new AbortController();
    const waiting = shared.acquire({ ifClaimed: "wait", signal: controller.signal });
    await vi.waitFor(() => expect(clock.sleeping).toBe(1));
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await other.release();
    await shared.acquire();
    await shared.release();
    expect(store.claims.size).toBe(0); // the ended wait is no user
  });

  test("a refused user does not end the wait of another", async () => {
    const { store, clock, shared } = createClaims();
    const other = await store.claim("s");
    const [waiting, refused] = [shared.acquire({ ifClaimed: "wait" }), shared.acquire()];
    await expect(refused).rejects.toThrow("is held by");
    await other.release();
    await vi.waitFor(() => expect(clock.sleeping).toBe(1));
    await clock.advance(200);
    expect(await waiting).toMatchObject({ fence: 2 });
  });

  test("does not wait if the store fails for another reason", async () => {
    const { store, shared } = createClaims();
    store.claim = async () => {
      throw new Error("the disk is full");
    };
    await expect(shared.acquire({ ifClaimed: "wait" })).rejects.toThrow("the disk is full");
  });

  test("reports a failed release to the caller and can claim again", async () => {
    const { store, shared } = createClaims();
    const claim = await shared.acquire();
    Object.assign(claim ?? {}, { release: () => Promise.reject(new Error("the disk is full")) });
    await expect(shared.release()).rejects.toThrow("the disk is full");
    store.claims.clear();
    expect(await shared.acquire()).toMatchObject({ fence: 2 });
  });
});
