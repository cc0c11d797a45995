import { describe, expect, test } from "vitest";
import type { CheckedMessage } from "./check/checked-message.ts";
import { LeftActions, nowAndLater } from "./left-actions.ts";

const say = { say: "Hi." };
const code = { code: "1" };
const search = { search: "x" };

function bringing(id: string): readonly CheckedMessage[] {
  return [{ role: "user", place: 0, content: [{ type: "tool_result", tool_use_id: id }] }];
}

describe("what is left of a step", () => {
  test("is taken once, by who brings what it waits for", () => {
    const left = new LeftActions();
    left.keep("t1", [say]);
    expect(left.take([])).toBeNull();
    expect(left.take(bringing("t2"))).toBeNull();
    expect(left.take(bringing("t1"))).toEqual([say]);
    expect(left.take(bringing("t1"))).toBeNull();
  });

  test("is forgotten when nobody has come for it for long", () => {
    const left = new LeftActions();
    for (let place = 0; place <= 1000; place++) left.keep(`t${place}`, [say]);
    expect(left.take(bringing("t0"))).toBeNull();
    expect(left.take(bringing("t1"))).toEqual([say]);
  });

  test("is all after the last tool, unless the client is called or the tool runs here", () => {
    const call = { call: { name: "look", args: {} } };
    const away = { searchesHere: false };
    expect(nowAndLater([code, say, search, say], away)).toEqual({
      now: [code, say, search],
      later: [say],
    });
    expect(nowAndLater([code, call, say], away).later).toEqual([]);
    expect(nowAndLater([search, say], { searchesHere: true }).later).toEqual([]);
    expect(nowAndLater([say], away).now).toEqual([say]);
  });
});
