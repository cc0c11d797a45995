import { describe, expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import type { WireItem } from "../wire.ts";
import { History } from "./history.ts";

const user = { type: "message", role: "user", content: "hi" };
const said = { type: "message", role: "assistant", id: "msg_1", content: [] };
const reasoning = (id: string) => ({ type: "reasoning", id, encrypted_content: "gAAA" });
const call = (id: string) => ({ type: "function_call", id: `fc_${id}`, call_id: id, name: "add" });
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "2" });
const python = (id: string) => ({ type: "code_interpreter_call", id: "ci_1", container_id: id });
const system = (content: string) => ({ type: "message", role: "system", content });

const sent = (history: History): unknown =>
  JSON.parse(new TextDecoder().decode(history.body('{"model":"m"}')));

function historyOf(...items: readonly WireItem[]): History {
  const history = new History({ stored: true });
  history.add(items);
  return history;
}

describe("a history", () => {
  test("is sent in the order it came, as bytes and as a value", () => {
    const history = historyOf(user, reasoning("rs_1"), call("a"), output("a"));
    const request = { input: [user, reasoning("rs_1"), call("a"), output("a")], model: "m" };
    expect(sent(history)).toEqual(request);
    expect(history.value({ model: "m" })).toEqual(request);
    expect(history.length).toBe(4);
  });

  test("keeps items as the objects they came as", () => {
    expect(historyOf(said, user).items[0]).toBe(said);
    expect(historyOf(said).value({}).input[0]).toBe(said);
  });

  test("sends no ids where nothing is stored, and keeps them", () => {
    const history = new History({ stored: false });
    history.add([said, { type: "web_search_call", id: "ws_1" }]);
    const { id: _id, ...nameless } = said;
    const input = [nameless, { type: "web_search_call", id: "ws_1" }];
    expect(sent(history)).toEqual({ input, model: "m" });
    expect(history.value({ model: "m" }).input).toEqual(input);
    expect(history.items[0]).toBe(said);
  });

  test("serialises an item once, whatever happens to it", () => {
    let times = 0;
    const counted = (type: string): WireItem => ({ type, toJSON: () => ({ type, n: ++times }) });
    const history = historyOf(counted("a"), python("cntr_1"), counted("b"));
    for (let turn = 0; turn < 5; turn++) history.body('{"model":"m"}');
    const mark = history.mark();
    history.prompt("one");
    history.prompt("two");
    history.drop(({ type }) => type === "code_interpreter_call");
    history.add([call("x")]);
    history.settle();
    history.restore(mark);
    history.step();
    expect(sent(history)).toEqual({
      input: [{ type: "a", n: 1 }, python("cntr_1"), { type: "b", n: 2 }],
      model: "m",
    });
    expect(times).toBe(2);
  });

  test("knows the containers that its calls ran in", () => {
    const shell = { type: "shell_call", call_id: "s", environment: { container_id: "cntr_2" } };
    const history = historyOf(python("cntr_1"), shell, python("cntr_1"), said);
    expect([...history.containerIds()]).toEqual(["cntr_1", "cntr_2"]);
  });
});

describe("a history's prompt", () => {
  test("is a system message that is added once and replaced where it stands", () => {
    const history = historyOf(user);
    history.prompt("one");
    history.add([said]);
    history.prompt("one");
    expect(history.items).toEqual([user, system("one"), said]);
    history.prompt("two");
    expect(sent(history)).toEqual({ input: [user, system("two"), said], model: "m" });
  });

  test("is found again after items before it are gone", () => {
    const history = historyOf(python("cntr_1"), user);
    history.prompt("one");
    history.add([said]);
    history.drop(({ type }) => type === "code_interpreter_call");
    history.prompt("two");
    expect(history.items).toEqual([user, system("two"), said]);
  });

  test("is added anew once it was dropped, or was undone", () => {
    const history = historyOf(user);
    const mark = history.mark();
    history.prompt("one");
    history.drop(({ role }) => role === "system");
    history.prompt("one");
    expect(history.items).toEqual([user, system("one")]);
    history.restore(mark);
    expect(history.items).toEqual([user]);
    history.prompt("one");
    expect(history.items).toEqual([user, system("one")]);
  });

  test("follows what an earlier conversation was prompted with", () => {
    const history = new History({ stored: true, items: [system("old"), said] });
    history.prompt("new");
    expect(history.items).toEqual([system("old"), said, system("new")]);
  });
});

describe("settling", () => {
  test("drops nothing from what is whole", () => {
    expect(historyOf(user, reasoning("rs_1"), call("a"), output("a")).settle()).toEqual([]);
  });

  test("drops a call that was never answered, with its reasoning, and nothing twice", () => {
    const history = historyOf(user, reasoning("rs_1"), call("a"), user);
    expect(history.settle()).toEqual([reasoning("rs_1"), call("a")]);
    expect(sent(history)).toEqual({ input: [user, user], model: "m" });
    expect(history.settle()).toEqual([]);
  });

  test("drops what is no item, which a provider may send", () => {
    const history = historyOf(user, null as unknown as WireItem, said);
    expect(history.settle()).toEqual([null]);
    expect(history.items).toEqual([user, said]);
  });

  test("sees to what came after the last time", () => {
    const history = historyOf(call("a"));
    history.settle();
    history.add([call("a"), output("a"), reasoning("rs_1")]);
    expect(history.settle()).toEqual([reasoning("rs_1")]);
    expect(history.items).toEqual([call("a"), output("a")]);
  });

  test("does not look again at what it has seen", () => {
    let looks = 0;
    const watched = {
      get type() {
        looks += 1;
        return "web_search_call";
      },
    };
    const history = historyOf(user, watched, call("b"));
    expect(history.settle()).toEqual([call("b")]);
    const before = looks;
    history.add([reasoning("rs_1"), call("a"), output("a")]);
    expect(history.settle()).toEqual([]);
    history.body('{"model":"m"}');
    history.restore(history.mark());
    history.step();
    expect(looks).toBe(before);
  });
});

describe("dropping", () => {
  const named = (id: string) => (item: WireItem) => item["id"] === id || item["call_id"] === id;

  test("takes a call's output along, and an output's call", () => {
    const items = [call("a"), call("b"), output("a"), output("b")];
    expect(historyOf(...items).drop(named("fc_a"))).toEqual([call("a"), output("a")]);
    const outputOfB = (item: WireItem) => item["call_id"] === "b" && "output" in item;
    expect(historyOf(...items).drop(outputOfB)).toEqual([call("b"), output("b")]);
  });

  test("takes the reasoning along that led to it, and to nothing else", () => {
    const [first, second] = [reasoning("rs_1"), reasoning("rs_2")];
    const history = historyOf(first, python("cntr_1"), second, said);
    expect(history.drop(named("ci_1"))).toEqual([first, python("cntr_1")]);
    expect(history.items).toEqual([second, said]);
  });

  test("leaves reasoning that led to more", () => {
    const history = historyOf(reasoning("rs_1"), call("a"), call("b"), output("a"), output("b"));
    history.drop(named("a"));
    expect(history.items).toEqual([reasoning("rs_1"), call("b"), output("b")]);
  });

  test("leaves calls that are still to be answered", () => {
    const history = historyOf(user, python("cntr_1"), call("a"));
    history.drop(named("ci_1"));
    expect(history.items).toEqual([user, call("a")]);
  });

  test("asks nobody about what is no item", () => {
    const history = historyOf(null as unknown as WireItem, python("cntr_1"), said);
    expect(history.drop(({ id }) => id === "ci_1")).toEqual([python("cntr_1")]);
    expect(history.items).toEqual([null, said]);
  });

  test("changes nothing if nothing is named", () => {
    const history = historyOf(user, said);
    const { items } = history;
    expect(history.drop(() => false)).toEqual([]);
    expect(history.items).toBe(items);
  });
});

describe("a mark", () => {
  test("undoes whatever came after it", () => {
    const history = historyOf(user, python("cntr_1"));
    history.prompt("one");
    const mark = history.mark();
    history.add([reasoning("rs_1"), call("a")]);
    history.prompt("two");
    history.drop(({ type }) => type === "code_interpreter_call");
    history.settle();
    history.restore(mark);
    expect(sent(history)).toEqual({
      input: [user, python("cntr_1"), system("one")],
      model: "m",
    });
    expect(history.settle()).toEqual([]);
  });

  test("stays good after an earlier one was returned to", () => {
    const history = historyOf(user);
    const early = history.mark();
    history.add([said]);
    const late = history.mark();
    history.restore(early);
    history.add([call("a"), output("a")]);
    history.restore(late);
    expect(sent(history)).toEqual({ input: [user, said], model: "m" });
    history.restore(early);
    expect(sent(history)).toEqual({ input: [user], model: "m" });
  });
});

describe("a step", () => {
  test("is what was added since the last one", () => {
    const history = historyOf(user);
    expect(history.step()).toEqual({ kept: 0, added: [user] });
    history.add([said]);
    expect(history.step()).toEqual({ kept: 1, added: [said] });
    expect(history.step()).toEqual({ kept: 2, added: [] });
  });

  test("goes back no further than to the first item that is another", () => {
    const history = historyOf(user, said, python("cntr_1"), user);
    history.prompt("one");
    history.step();
    history.drop(({ type }) => type === "code_interpreter_call");
    expect(history.step()).toEqual({ kept: 2, added: [user, system("one")] });
    history.prompt("two");
    expect(history.step()).toEqual({ kept: 3, added: [system("two")] });
  });

  test("tells nothing of what was undone", () => {
    const history = historyOf(user);
    history.step();
    const mark = history.mark();
    history.add([said]);
    history.prompt("one");
    history.restore(mark);
    expect(history.step()).toEqual({ kept: 1, added: [] });
  });

  test("tells what was undone after it was told", () => {
    const history = historyOf(user);
    const mark = history.mark();
    history.add([said]);
    history.step();
    history.restore(mark);
    expect(history.step()).toEqual({ kept: 1, added: [] });
  });
});

describe("an earlier conversation", () => {
  test("is kept whole if it is whole", () => {
    const history = new History({ stored: true, items: [user, said] });
    expect(history.dropped).toEqual([]);
    history.add([user]);
    expect(history.step()).toEqual({ kept: 2, added: [user] });
  });

  test("is kept up to what had to be dropped", () => {
    const items = [user, call("a"), user];
    const history = new History({ stored: true, items });
    expect(history.dropped).toEqual([call("a")]);
    expect(history.step()).toEqual({ kept: 1, added: [user] });
  });

  test("does not grow with this one", () => {
    const items: object[] = [user];
    const history = new History({ stored: true, items });
    history.add([said]);
    expect(items).toEqual([user]);
  });
});

describe("an item that is no JSON", () => {
  const endless: Record<string, unknown> = { type: "mcp_call" };
  endless["self"] = endless;

  test("is refused with all that came with it, and leaves the history as it was", () => {
    const history = historyOf(user);
    const refused = () => history.add([said, endless]);
    expect(refused).toThrow(WinkError);
    expect(refused).toThrow("its value.self contains itself");
    expect(sent(history)).toEqual({ input: [user], model: "m" });
    expect(history.step()).toEqual({ kept: 0, added: [user] });
  });

  test("is refused in an earlier conversation", () => {
    expect(() => new History({ stored: true, items: [endless] })).toThrow(WinkError);
  });
});
