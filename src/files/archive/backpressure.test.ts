import { expect, test } from "vitest";
import { acquireSlot, createBackpressure, releaseSlot } from "./backpressure.ts";

test("acquireSlot() takes one slot at a time, and releaseSlot() frees it", () => {
  const backpressure = createBackpressure(2);
  acquireSlot(backpressure);
  acquireSlot(backpressure);
  expect([...backpressure]).toEqual([0]);
  releaseSlot(backpressure);
  acquireSlot(backpressure);
  expect([...backpressure]).toEqual([0]);
});
