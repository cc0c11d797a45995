import { describe, expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import type { WireItem } from "../wire.ts";
import { History } from "./history.ts";

const user = { type: "message", role: "user", content: "hi" };
const answer = { type: "message", role: "assistant", id: "msg_1", content: [] };
const reasoning = (id: string) => ({ type: "reasoning", id, encrypted_content: "gAAA" });
const call = (id: string) => ({ type: "function_call", id: `fc_${id}`, call_id: id, name: "add" });
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "2" });
const python = (id: string) => ({ type: "code_interpreter_call", id: "ci_1", container_id: id });
const system = (content: string) => ({ type: "message", role: "system", content });

const parseSent = (history: History): unknown =>
  JSON.parse(new TextDecoder().decode(history.toRequestBody('{"model":"m"}')));

function createHistory(...items: readonly WireItem[]): History {
  const history = new History({ stored: true });
  history.add(items);
  return history;
}

describe("History", () => {
  test("sends items in their order, as bytes and as a value", () => {
    const history = createHistory(user, reasoning("rs_1"), call("a"), output("a"));
    const request = { input: [user, reasoning("rs_1"), call("a"), output("a")], model: "m" };
    expect(parseSent(history)).toEqual(request);
    expect(history.toRequestValue({ model: "m" })).toEqual(request);
    expect(history.length).toBe(4);
  });

  test("keeps the original item objects", () => {
    expect(createHistory(answer, user).items[0]).toBe(answer);
    expect(createHistory(answer).toRequestValue({}).input[0]).toBe(answer);
  });

  test("omits ids from requests without storage, and keeps them in the items", () => {
    const history = new History({ stored: false });
    history.add([answer, { type: "web_search_call", id: "ws_1" }]);
    const { id: _id, ...nameless } = answer;
    const input = [nameless, { type: "web_search_call", id: "ws_1" }];
    expect(parseSent(history)).toEqual({ input, model: "m" });
    expect(history.toRequestValue({ model: "m" }).input).toEqual(input);
    expect(history.items[0]).toBe(answer);
  });

  test("serializes each item exactly once", () => {
    let times = 0;
    const createCountedItem = (type: string): WireItem => ({
      type,
      toJSON: () => ({ type, n: ++times }),
    });
    const history = createHistory(createCountedItem("a"), python("cntr_1"), createCountedItem("b"));
    for (let turn = 0; turn < 5; turn++) history.toRequestBody('{"model":"m"}');
    const mark = history.mark();
    history.setPrompt("one");
    history.setPrompt("two");
    history.drop(({ type }) => type === "code_interpreter_call");
    history.add([call("x")]);
    history.dropInvalid();
    history.restore(mark);
    history.takeStep();
    expect(parseSent(history)).toEqual({
      input: [{ type: "a", n: 1 }, python("cntr_1"), { type: "b", n: 2 }],
      model: "m",
    });
    expect(times).toBe(2);
  });

  test("serializes the items of an answer when a request needs them", () => {
    let times = 0;
    const counted: WireItem = { type: "a", toJSON: () => ({ type: "a", n: ++times }) };
    const history = createHistory(user);
    history.addParsed([counted]);
    expect([history.length, history.items.at(-1)]).toEqual([2, counted]);
    history.mark();
    history.takeStep();
    expect(times).toBe(0);
    history.add([call("x")]);
    for (let turn = 0; turn < 5; turn++) history.toRequestBody('{"model":"m"}');
    expect(parseSent(history)).toEqual({
      input: [user, { type: "a", n: 1 }, call("x")],
      model: "m",
    });
  });

  test("finds the containers that its calls ran in", () => {
    const shell = { type: "shell_call", call_id: "s", environment: { container_id: "cntr_2" } };
    const history = createHistory(python("cntr_1"), shell, python("cntr_1"), answer);
    expect([...history.findContainerIds()]).toEqual(["cntr_1", "cntr_2"]);
  });
});

describe("History.setPrompt()", () => {
  test("adds a system message once and replaces it at its position", () => {
    const history = createHistory(user);
    history.setPrompt("one");
    history.add([answer]);
    history.setPrompt("one");
    expect(history.items).toEqual([user, system("one"), answer]);
    history.setPrompt("two");
    expect(parseSent(history)).toEqual({ input: [user, system("two"), answer], model: "m" });
  });

  test("finds the prompt after items before it were dropped", () => {
    const history = createHistory(python("cntr_1"), user);
    history.setPrompt("one");
    history.add([answer]);
    history.drop(({ type }) => type === "code_interpreter_call");
    history.setPrompt("two");
    expect(history.items).toEqual([user, system("two"), answer]);
  });

  test("adds the prompt again after it was dropped or undone", () => {
    const history = createHistory(user);
    const mark = history.mark();
    history.setPrompt("one");
    history.drop(({ role }) => role === "system");
    history.setPrompt("one");
    expect(history.items).toEqual([user, system("one")]);
    history.restore(mark);
    expect(history.items).toEqual([user]);
    history.setPrompt("one");
    expect(history.items).toEqual([user, system("one")]);
  });

  test("adds the prompt after an earlier conversation's prompt", () => {
    const history = new History({ stored: true, items: [system("old"), answer] });
    history.setPrompt("new");
    expect(history.items).toEqual([system("old"), answer, system("new")]);
  });
});

describe("History.setPrompt() with the role user", () => {
  test("adds a user message, and replaces or removes it at its position", () => {
    const history = createHistory();
    history.setPrompt("one");
    history.setPrompt("task", "user");
    history.add([answer]);
    history.setPrompt("other", "user");
    expect(history.items).toEqual([system("one"), { ...user, content: "other" }, answer]);
    history.setPrompt(null, "user");
    expect(history.items).toEqual([system("one"), answer]);
    history.setPrompt("two");
    expect(history.items).toEqual([system("two"), answer]);
    history.setPrompt(null);
    expect(parseSent(history)).toEqual({ input: [answer], model: "m" });
    history.setPrompt(null);
    expect(history.items).toEqual([answer]);
  });

  test("adds the message again after it was dropped or undone", () => {
    const history = createHistory();
    const mark = history.mark();
    history.setPrompt("hi", "user");
    history.drop(({ role }) => role === "user");
    history.setPrompt("hi", "user");
    expect(history.items).toEqual([user]);
    history.restore(mark);
    history.setPrompt("hi", "user");
    expect(history.items).toEqual([user]);
  });
});

describe("History.adoptSystemText()", () => {
  test("uses the last system message if it has the same text", () => {
    const items = [system("one"), answer, system("two"), user];
    const history = new History({ stored: true, items });
    expect(history.adoptSystemText("one")).toBe(false);
    expect(history.adoptSystemText("two")).toBe(true);
    history.setPrompt("two");
    expect(history.items).toEqual(items);
    history.setPrompt("three");
    expect(history.items).toEqual([system("one"), answer, system("three"), user]);
  });

  test("finds none in a history without system messages", () => {
    expect(createHistory(user, answer).adoptSystemText("hi")).toBe(false);
    expect(createHistory().adoptSystemText("hi")).toBe(false);
  });

  test("is undone by restoring an earlier mark", () => {
    const history = new History({ stored: true, items: [system("one"), answer] });
    const mark = history.mark();
    history.adoptSystemText("one");
    history.restore(mark);
    history.setPrompt("one");
    expect(history.items).toEqual([system("one"), answer, system("one")]);
  });
});

test("History.endsWithInput tells whether the model has something to answer", () => {
  expect(createHistory().endsWithInput).toBe(false);
  expect(createHistory(user).endsWithInput).toBe(true);
  expect(createHistory(system("one")).endsWithInput).toBe(true);
  expect(createHistory(call("a"), output("a")).endsWithInput).toBe(true);
  expect(createHistory(user, answer).endsWithInput).toBe(false);
  expect(createHistory(user, { type: "compaction", id: "cmp_1" }).endsWithInput).toBe(false);
});

test("History.hasAttachments tells whether a message has a file or an image", () => {
  const file = { ...user, content: [{ type: "input_file", file_id: "file-1" }] };
  const image = { ...user, content: [{ type: "input_text" }, { type: "input_image" }] };
  expect(createHistory(user, answer).hasAttachments).toBe(false);
  expect(createHistory(null as unknown as WireItem).hasAttachments).toBe(false);
  expect(createHistory(user, image).hasAttachments).toBe(true);
  const history = createHistory(user, file);
  expect(history.hasAttachments).toBe(true);
  history.drop((item) => item === file);
  expect(history.hasAttachments).toBe(false);
});

describe("History.dropInvalid()", () => {
  test("drops nothing from a valid history", () => {
    expect(createHistory(user, reasoning("rs_1"), call("a"), output("a")).dropInvalid()).toEqual(
      [],
    );
  });

  test("drops an unanswered call with its reasoning, once", () => {
    const history = createHistory(user, reasoning("rs_1"), call("a"), user);
    expect(history.dropInvalid()).toEqual([reasoning("rs_1"), call("a")]);
    expect(parseSent(history)).toEqual({ input: [user, user], model: "m" });
    expect(history.dropInvalid()).toEqual([]);
  });

  test("drops a value that is not an item", () => {
    const history = createHistory(user, null as unknown as WireItem, answer);
    expect(history.dropInvalid()).toEqual([null]);
    expect(history.items).toEqual([user, answer]);
  });

  test("checks items that were added since the last call", () => {
    const history = createHistory(call("a"));
    history.dropInvalid();
    history.add([call("a"), output("a"), reasoning("rs_1")]);
    expect(history.dropInvalid()).toEqual([reasoning("rs_1")]);
    expect(history.items).toEqual([call("a"), output("a")]);
  });

  test("does not check the same items twice", () => {
    let reads = 0;
    const watched = {
      get type() {
        reads += 1;
        return "web_search_call";
      },
    };
    const history = createHistory(user, watched, call("b"));
    expect(history.dropInvalid()).toEqual([call("b")]);
    const before = reads;
    history.add([reasoning("rs_1"), call("a"), output("a")]);
    expect(history.dropInvalid()).toEqual([]);
    history.toRequestBody('{"model":"m"}');
    history.restore(history.mark());
    history.takeStep();
    expect(reads).toBe(before);
  });
});

describe("History.drop()", () => {
  const matchId = (id: string) => (item: WireItem) => item["id"] === id || item["call_id"] === id;

  test("drops a call with its output, and an output with its call", () => {
    const items = [call("a"), call("b"), output("a"), output("b")];
    expect(createHistory(...items).drop(matchId("fc_a"))).toEqual([call("a"), output("a")]);
    const isOutputOfB = (item: WireItem) => item["call_id"] === "b" && "output" in item;
    expect(createHistory(...items).drop(isOutputOfB)).toEqual([call("b"), output("b")]);
  });

  test("drops reasoning whose only output is dropped", () => {
    const [first, second] = [reasoning("rs_1"), reasoning("rs_2")];
    const history = createHistory(first, python("cntr_1"), second, answer);
    expect(history.drop(matchId("ci_1"))).toEqual([first, python("cntr_1")]);
    expect(history.items).toEqual([second, answer]);
  });

  test("keeps reasoning that has other output", () => {
    const history = createHistory(
      reasoning("rs_1"),
      call("a"),
      call("b"),
      output("a"),
      output("b"),
    );
    history.drop(matchId("a"));
    expect(history.items).toEqual([reasoning("rs_1"), call("b"), output("b")]);
  });

  test("keeps calls that are not answered yet", () => {
    const history = createHistory(user, python("cntr_1"), call("a"));
    history.drop(matchId("ci_1"));
    expect(history.items).toEqual([user, call("a")]);
  });

  test("does not call the predicate for a value that is not an item", () => {
    const history = createHistory(null as unknown as WireItem, python("cntr_1"), answer);
    expect(history.drop(({ id }) => id === "ci_1")).toEqual([python("cntr_1")]);
    expect(history.items).toEqual([null, answer]);
  });

  test("changes nothing if no item matches", () => {
    const history = createHistory(user, answer);
    const { items } = history;
    expect(history.drop(() => false)).toEqual([]);
    expect(history.items).toBe(items);
  });
});

describe("History.restore()", () => {
  test("undoes every change since the mark", () => {
    const history = createHistory(user, python("cntr_1"));
    history.setPrompt("one");
    const mark = history.mark();
    history.add([reasoning("rs_1"), call("a")]);
    history.setPrompt("two");
    history.drop(({ type }) => type === "code_interpreter_call");
    history.dropInvalid();
    history.restore(mark);
    expect(parseSent(history)).toEqual({
      input: [user, python("cntr_1"), system("one")],
      model: "m",
    });
    expect(history.dropInvalid()).toEqual([]);
  });

  test("accepts a later mark after an earlier one was restored", () => {
    const history = createHistory(user);
    const early = history.mark();
    history.add([answer]);
    const late = history.mark();
    history.restore(early);
    history.add([call("a"), output("a")]);
    history.restore(late);
    expect(parseSent(history)).toEqual({ input: [user, answer], model: "m" });
    history.restore(early);
    expect(parseSent(history)).toEqual({ input: [user], model: "m" });
  });
});

describe("History.takeStep()", () => {
  test("returns the items added since the last step", () => {
    const history = createHistory(user);
    expect(history.takeStep()).toEqual({ kept: 0, added: [user] });
    history.add([answer]);
    expect(history.takeStep()).toEqual({ kept: 1, added: [answer] });
    expect(history.takeStep()).toEqual({ kept: 2, added: [] });
  });

  test("keeps everything before the first changed item", () => {
    const history = createHistory(user, answer, python("cntr_1"), user);
    history.setPrompt("one");
    history.takeStep();
    history.drop(({ type }) => type === "code_interpreter_call");
    expect(history.takeStep()).toEqual({ kept: 2, added: [user, system("one")] });
    history.setPrompt("two");
    expect(history.takeStep()).toEqual({ kept: 3, added: [system("two")] });
  });

  test("omits changes that were undone", () => {
    const history = createHistory(user);
    history.takeStep();
    const mark = history.mark();
    history.add([answer]);
    history.setPrompt("one");
    history.restore(mark);
    expect(history.takeStep()).toEqual({ kept: 1, added: [] });
  });

  test("reports the removal of items that an earlier step included", () => {
    const history = createHistory(user);
    const mark = history.mark();
    history.add([answer]);
    history.takeStep();
    history.restore(mark);
    expect(history.takeStep()).toEqual({ kept: 1, added: [] });
  });
});

describe("new History() with an earlier conversation", () => {
  test("keeps a valid conversation", () => {
    const history = new History({ stored: true, items: [user, answer] });
    expect(history.dropped).toEqual([]);
    history.add([user]);
    expect(history.takeStep()).toEqual({ kept: 2, added: [user] });
  });

  test("reports everything after a dropped item as added", () => {
    const items = [user, call("a"), user];
    const history = new History({ stored: true, items });
    expect(history.dropped).toEqual([call("a")]);
    expect(history.takeStep()).toEqual({ kept: 1, added: [user] });
  });

  test("does not modify the passed array", () => {
    const items: object[] = [user];
    const history = new History({ stored: true, items });
    history.add([answer]);
    expect(items).toEqual([user]);
  });
});

describe("an item that cannot be serialized", () => {
  const endless: Record<string, unknown> = { type: "mcp_call" };
  endless["self"] = endless;

  test("makes add() throw and leaves the history unchanged", () => {
    const history = createHistory(user);
    const add = () => history.add([answer, endless]);
    expect(add).toThrow(WinkError);
    expect(add).toThrow("its value.self contains itself");
    expect(parseSent(history)).toEqual({ input: [user], model: "m" });
    expect(history.takeStep()).toEqual({ kept: 0, added: [user] });
  });

  test("makes the constructor throw", () => {
    expect(() => new History({ stored: true, items: [endless] })).toThrow(WinkError);
  });
});
