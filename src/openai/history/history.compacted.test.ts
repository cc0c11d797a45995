import { describe, expect, it } from "vitest";
import { functionCall, message, reasoning } from "../../../tests/support/wire-items.ts";
import { History } from "./history.ts";

const user = { type: "message", role: "user", content: "A fact." };
const sealed = { type: "compaction", id: "cmp_1", encrypted_content: "sealed" };
const prompt = { type: "message", role: "system", content: "Go." };

function parseSentInput(history: History): unknown {
  return JSON.parse(new TextDecoder().decode(history.toRequestBody('{"model":"m"}'))).input;
}

describe("History.replaceWithWindow()", () => {
  it("replaces everything except the prompt, in the request bytes too", () => {
    const history = new History({ stored: true, items: [user] });
    history.setPrompt("Go.");
    history.add([message("Long.")]);
    history.replaceWithWindow([user, sealed]);
    expect(history.items).toEqual([prompt, user, sealed]);
    expect(parseSentInput(history)).toEqual([prompt, user, sealed]);
    expect(history.byteLength).toBe(JSON.stringify(history.items).length - "[]".length);
  });

  it("works without a prompt, which can be added later", () => {
    const history = new History({ stored: true, items: [message("Long.")] });
    history.replaceWithWindow([sealed]);
    expect(history.items).toEqual([sealed]);
    history.setPrompt("Go.");
    expect(history.items).toEqual([sealed, prompt]);
  });

  it("lets the prompt be replaced at its new position", () => {
    const history = new History({ stored: true, items: [user] });
    history.setPrompt("Go.");
    history.replaceWithWindow([sealed]);
    history.setPrompt("Stop.");
    expect(parseSentInput(history)).toEqual([{ ...prompt, content: "Stop." }, sealed]);
  });

  it("is undone by restoring an earlier mark, repeatedly", () => {
    const history = new History({ stored: true });
    history.setPrompt("Go.");
    history.add([user, message("Long.")]);
    const mark = history.mark();
    for (const _time of [1, 2]) {
      history.replaceWithWindow([sealed]);
      history.add([message("More.")]);
      history.restore(mark);
      expect(parseSentInput(history)).toEqual([prompt, user, message("Long.")]);
    }
  });

  it("reports the kept and added items in the next step", () => {
    const history = new History({ stored: true });
    history.setPrompt("Go.");
    history.add([user, message("Long.")]);
    history.takeStep();
    history.replaceWithWindow([user, sealed]);
    expect(history.takeStep()).toEqual({ kept: 2, added: [sealed] });
  });

  it("clears earlier unpaired calls", () => {
    const history = new History({ stored: true });
    history.add([functionCall("look", {}, "call_1")]);
    history.replaceWithWindow([sealed]);
    expect(history.dropInvalid()).toEqual([]);
    expect(history.items).toEqual([sealed]);
  });
});

describe("the opening of a conversation", () => {
  const task = { ...user, content: "Sort." };

  it("is not compacted until it is answered", () => {
    const history = new History({ stored: true, items: [user, message("Long.")] });
    history.setPrompt("Go.");
    history.startOpening();
    history.setPrompt("Sort.", "user");
    history.add([user]);
    expect(history.window).toEqual([user, message("Long.")]);
    history.replaceWithWindow([sealed]);
    expect(parseSentInput(history)).toEqual([prompt, sealed, task, user]);
    expect(history.window).toEqual([sealed]);
    history.setPrompt("Rank.", "user");
    expect(history.items).toEqual([prompt, sealed, { ...task, content: "Rank." }, user]);
    history.endOpening();
    expect(history.window).toEqual([sealed, { ...task, content: "Rank." }, user]);
  });

  it("starts at the same item after items before it were dropped", () => {
    const history = new History({ stored: true, items: [user, message("Long.")] });
    history.startOpening();
    history.setPrompt("Sort.", "user");
    history.drop((item) => item === user);
    expect(history.window).toEqual([message("Long.")]);
    history.replaceWithWindow([sealed]);
    expect(history.items).toEqual([sealed, task]);
  });

  it("that was compacted after its answer is added again only if its text changes", () => {
    const history = new History({ stored: true });
    history.startOpening();
    history.setPrompt("Sort.", "user");
    history.endOpening();
    history.add([message("Done.")]);
    history.replaceWithWindow([sealed]);
    history.setPrompt("Sort.", "user");
    expect(history.items).toEqual([sealed]);
    history.replaceWithWindow([sealed]);
    history.setPrompt("Sort.", "user");
    expect(history.items).toEqual([sealed]);
    history.setPrompt("Rank.", "user");
    expect(history.items).toEqual([sealed, { ...task, content: "Rank." }]);
  });
});

describe("History.window", () => {
  it("contains all items except the prompt, at any position", () => {
    const history = new History({ stored: true, items: [user] });
    history.setPrompt("Go.");
    history.add([message("Yes.")]);
    expect(history.window).toEqual([user, message("Yes.")]);
    expect(new History({ stored: true, items: [user] }).window).toEqual([user]);
  });

  it("has no ids without storage", () => {
    const thought = { ...reasoning("rs_1"), id: "rs_1" };
    const answer = { ...message("Yes."), id: "msg_1" };
    const items = [thought, answer];
    expect(new History({ stored: true, items }).window).toEqual(items);
    expect(new History({ stored: false, items }).window).toEqual([reasoning(), message("Yes.")]);
  });
});
