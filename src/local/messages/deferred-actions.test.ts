import { describe, expect, test } from "vitest";
import type { CheckedMessage } from "./check/checked-message.ts";
import { DeferredActions, splitStep } from "./deferred-actions.ts";

const say = { say: "Hi." };
const code = { code: "1" };
const search = { search: "x" };

function createResultMessage(id: string): readonly CheckedMessage[] {
  return [{ role: "user", place: 0, content: [{ type: "tool_result", tool_use_id: id }] }];
}

describe("DeferredActions", () => {
  test("returns the actions once, for the message with their result", () => {
    const left = new DeferredActions();
    left.add("t1", { step: 4, actions: [say] });
    expect(left.takeAnswered([])).toBeNull();
    expect(left.takeAnswered(createResultMessage("t2"))).toBeNull();
    const rest = { callId: "t1", step: 4, actions: [say] };
    expect(left.takeAnswered(createResultMessage("t1"))).toEqual(rest);
    expect(left.takeAnswered(createResultMessage("t1"))).toBeNull();
  });

  test("evicts the oldest actions", () => {
    const left = new DeferredActions();
    for (let place = 0; place <= 1000; place++) left.add(`t${place}`, { step: 0, actions: [say] });
    expect(left.takeAnswered(createResultMessage("t0"))).toBeNull();
    expect(left.takeAnswered(createResultMessage("t1"))).toMatchObject({ actions: [say] });
  });

  test("defers all actions after the last tool, unless the client is called or the tool is hosted", () => {
    const call = { call: { name: "look", args: {} } };
    const away = () => false;
    expect(splitStep([code, say, search, say], away)).toEqual({
      now: [code, say, search],
      later: [say],
    });
    expect(splitStep([code, call, say], away).later).toEqual([]);
    expect(splitStep([search, say], () => true).later).toEqual([]);
    expect(splitStep([say], away).now).toEqual([say]);
  });
});
