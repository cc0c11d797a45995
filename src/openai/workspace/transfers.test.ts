import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eachFew, TRANSFERS_AT_ONCE } from "./transfers.ts";

describe("each of many things", () => {
  test("is done once, a few at a time", async () => {
    const done: number[] = [];
    let [now, most] = [0, 0];
    await eachFew(Array(30).keys(), async (item) => {
      most = Math.max(most, ++now);
      await nextTurn();
      now -= 1;
      done.push(item);
    });
    expect(done.sort((a, b) => a - b)).toEqual([...Array(30).keys()]);
    expect(most).toBe(TRANSFERS_AT_ONCE);
  });

  test("is left once one has failed, and those under way are waited for", async () => {
    const ended: number[] = [];
    const failing = eachFew(Array(100).keys(), async (item) => {
      await nextTurn();
      if (item === 3) throw new Error("The first.");
      await nextTurn();
      ended.push(item);
      if (item === 5) throw new Error("The second.");
    });
    await expect(failing).rejects.toThrow("The first.");
    expect(ended.length).toBeLessThan(TRANSFERS_AT_ONCE * 2);
    const before = ended.length;
    await nextTurn();
    expect(ended).toHaveLength(before);
  });

  test("may be none, and may fail with nothing to say", async () => {
    await eachFew([], () => Promise.reject(new Error("Never.")));
    await expect(eachFew([1], () => Promise.reject(undefined))).rejects.toBeUndefined();
  });
});
