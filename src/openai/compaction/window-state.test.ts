import { describe, expect, it } from "vitest";
import { noUsage } from "../../base/usage.ts";
import { readWindowState } from "./window-state.ts";

const lastCount = { tokens: 10, bytes: 40, base: 5 };
const backoff = { unhelpfulCount: 1, nextAtTokens: 70 };
const unmeasured = { tokensBefore: 60, bytesAfter: 20, isHelpful: true, backoff };

describe("readWindowState", () => {
  it("reads a stored state", () => {
    const usage = { ...noUsage, inputTokens: 3, totalTokens: 3 };
    const state = { lastCount, compactedTo: 2, unmeasured, backoff, usage };
    expect(readWindowState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it.each([
    [{}, {}],
    [{ usage: { inputTokens: 3 } }, {}],
    [{ lastCount: { tokens: "10" }, compactedTo: "2", unmeasured: 1 }, {}],
    [{ lastCount: null, unmeasured: { tokensBefore: 60 } }, {}],
    [
      { unmeasured: { ...unmeasured, isHelpful: 1, backoff: { nextAtTokens: 1 } } },
      {
        unmeasured: { tokensBefore: 60, bytesAfter: 20, isHelpful: false, backoff: undefined },
      },
    ],
  ])("treats fields that it cannot read as unknown: %j", (state, expected) => {
    const nothing = { lastCount: null, compactedTo: null, unmeasured: null };
    const unknown = { ...nothing, backoff: null, usage: null };
    expect(readWindowState(state)).toEqual({ ...unknown, ...expected });
  });
});
