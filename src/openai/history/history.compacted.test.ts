import { describe, expect, it } from "vitest";
import { functionCall, message, reasoning } from "../../../tests/support/wire-items.ts";
import { History } from "./history.ts";

const user = { type: "message", role: "user", content: "A fact." };
const sealed = { type: "compaction", id: "cmp_1", encrypted_content: "sealed" };
const prompt = { type: "message", role: "system", content: "Go." };

function sent(history: History): unknown {
  return JSON.parse(new TextDecoder().decode(history.body('{"model":"m"}'))).input;
}

describe("a history that is compacted", () => {
  it("becomes its prompt and the window, in its bytes too", () => {
    const history = new History({ stored: true, items: [user] });
    history.prompt("Go.");
    history.add([message("Long.")]);
    history.compacted([user, sealed]);
    expect(history.items).toEqual([prompt, user, sealed]);
    expect(sent(history)).toEqual([prompt, user, sealed]);
    expect(history.bytes).toBe(JSON.stringify(history.items).length - "[]".length);
  });

  it("is the window alone where it has no prompt, and takes one later", () => {
    const history = new History({ stored: true, items: [message("Long.")] });
    history.compacted([sealed]);
    expect(history.items).toEqual([sealed]);
    history.prompt("Go.");
    expect(history.items).toEqual([sealed, prompt]);
  });

  it("has its prompt replaced where that now stands", () => {
    const history = new History({ stored: true, items: [user] });
    history.prompt("Go.");
    history.compacted([sealed]);
    history.prompt("Stop.");
    expect(sent(history)).toEqual([{ ...prompt, content: "Stop." }, sealed]);
  });

  it("is as before when it is set back to a mark from before, and can be set back twice", () => {
    const history = new History({ stored: true });
    history.prompt("Go.");
    history.add([user, message("Long.")]);
    const mark = history.mark();
    for (const _time of [1, 2]) {
      history.compacted([sealed]);
      history.add([message("More.")]);
      history.restore(mark);
      expect(sent(history)).toEqual([prompt, user, message("Long.")]);
    }
  });

  it("tells the session which items stay and which came", () => {
    const history = new History({ stored: true });
    history.prompt("Go.");
    history.add([user, message("Long.")]);
    history.step();
    history.compacted([user, sealed]);
    expect(history.step()).toEqual({ kept: 2, added: [sealed] });
  });

  it("is known to be whole, whatever was torn before", () => {
    const history = new History({ stored: true });
    history.add([functionCall("look", {}, "call_1")]);
    history.compacted([sealed]);
    expect(history.settle()).toEqual([]);
    expect(history.items).toEqual([sealed]);
  });
});

describe("the window of a history", () => {
  it("is all but the prompt, wherever that stands", () => {
    const history = new History({ stored: true, items: [user] });
    history.prompt("Go.");
    history.add([message("Yes.")]);
    expect(history.window).toEqual([user, message("Yes.")]);
    expect(new History({ stored: true, items: [user] }).window).toEqual([user]);
  });

  it("has no ids that the provider does not know, where it keeps nothing", () => {
    const thought = { ...reasoning("rs_1"), id: "rs_1" };
    const said = { ...message("Yes."), id: "msg_1" };
    const items = [thought, said];
    expect(new History({ stored: true, items }).window).toEqual(items);
    expect(new History({ stored: false, items }).window).toEqual([reasoning(), message("Yes.")]);
  });
});
