import { describe, expect, test } from "vitest";
import { ParkedCalls } from "./parked-calls.ts";

const yes = { text: "Yes.", isError: false };
const ended = { text: "The evaluation has ended.", isError: true };

describe("a parked call", () => {
  test("waits until it is answered", async () => {
    const parked = new ParkedCalls();
    const answer = parked.arrive("a");
    expect([parked.isWaiting("a"), parked.isWaiting("b")]).toEqual([true, false]);
    parked.answer("a", yes);
    expect(parked.isWaiting("a")).toBe(false);
    expect(await answer).toBe(yes);
  });

  test("that comes after its answer has it at once, and only once", async () => {
    const parked = new ParkedCalls();
    parked.answer("a", yes);
    expect(await parked.arrive("a")).toBe(yes);
    expect(parked.takeLeftOver()).toEqual([]);
  });

  test("gets its own answer among others", async () => {
    const parked = new ParkedCalls();
    const [a, b] = [parked.arrive("a"), parked.arrive("b")];
    parked.answer("b", yes);
    parked.answer("a", { text: "No.", isError: true });
    expect(await Promise.all([a, b])).toEqual([{ text: "No.", isError: true }, yes]);
  });
});

test("answers that nobody came for are left over, once, in their order", () => {
  const parked = new ParkedCalls();
  parked.answer("b", { text: "Two.", isError: true });
  parked.answer("a", yes);
  expect(parked.takeLeftOver()).toEqual(["Two.", "Yes."]);
  expect(parked.takeLeftOver()).toEqual([]);
});

describe("once closed", () => {
  test("those who wait are told that it is over", async () => {
    const parked = new ParkedCalls();
    const calls = [parked.arrive("a"), parked.arrive("b")];
    parked.close();
    expect(await Promise.all(calls)).toEqual([ended, ended]);
    expect(parked.isWaiting("a")).toBe(false);
  });

  test("so are those who come later, but for an answer that is there", async () => {
    const parked = new ParkedCalls();
    parked.answer("a", yes);
    parked.close();
    expect(await parked.arrive("a")).toEqual(yes);
    expect(await parked.arrive("b")).toEqual(ended);
  });
});
