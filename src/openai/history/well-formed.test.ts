import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WireItem } from "../wire.ts";
import { fitting, lowered, Watch, wellFormed } from "./well-formed.ts";

const user = { type: "message", role: "user", content: "hi" };
const said = { type: "message", role: "assistant", id: "msg_1", content: [] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };
const search = { type: "web_search_call", id: "ws_1", status: "completed" };
const call = (id: unknown, type = "function_call") => ({ type, call_id: id, name: "add" });
const output = (id: unknown, type = "function_call") => ({ type: `${type}_output`, call_id: id });

const kept = (items: readonly object[], stored = true) => wellFormed(items, { stored }).items;

describe("a call that is ours to answer", () => {
  const types = [
    "function_call",
    "custom_tool_call",
    "shell_call",
    "apply_patch_call",
    "local_shell_call",
    "computer_call",
  ];

  test.each(types)("stays with its output: %s", (type) => {
    const items = [call("a", type), said, output("a", type)];
    expect(wellFormed(items, { stored: false })).toEqual({ items, dropped: [] });
  });

  test.each(types)("goes without an output of its own type: %s", (type) => {
    const other = type === "shell_call" ? "computer_call" : "shell_call";
    const items = [call("a", type), output("a", other), output("b", type)];
    expect(wellFormed(items, { stored: true })).toEqual({ items: [], dropped: items });
  });

  test("goes with an output that came before it", () => {
    expect(kept([output("a"), call("a"), said])).toEqual([said]);
  });

  test("has one output, the first", () => {
    const [first, second] = [
      { ...output("a"), output: "1" },
      { ...output("a"), output: "2" },
    ];
    expect(kept([call("a"), first, second])).toEqual([call("a"), first]);
  });

  test("has its id to itself until it is answered: a second one goes, and what answers it", () => {
    const items = [call("a"), call("a"), output("a"), output("a")];
    expect(kept(items)).toEqual([items[0], items[2]]);
  });

  test("may have the id of one that was answered, as servers that count anew give it", () => {
    const items = [call("a"), output("a"), call("a"), output("a")];
    expect(kept(items)).toEqual(items);
    expect(kept(items.slice(0, 3))).toEqual(items.slice(0, 2));
  });

  test("may share its id with a call of another type", () => {
    const items = [call("a"), call("a", "shell_call"), output("a", "shell_call"), output("a")];
    expect(kept(items)).toEqual(items);
  });

  test.each([undefined, null, 7, "", {}])("is torn if its id is %j, as is an output", (id) => {
    expect(kept([call(id), output(id)])).toEqual([]);
  });

  test("may be answered among others, in any order", () => {
    const items = [call("a"), call("b"), user, output("b"), output("a")];
    expect(kept(items)).toEqual(items);
  });
});

describe("a local shell's call", () => {
  test.each([
    [{ call_id: "a" }, { call_id: "a" }],
    [{ call_id: "a", id: "lsh_1" }, { id: "lsh_1" }],
    [{ call_id: "a", id: "lsh_1" }, { id: "a" }],
    [{ id: "lsh_1" }, { call_id: "lsh_1" }],
  ])("%j is answered by %j", (names, answer) => {
    const items = [
      { type: "local_shell_call", ...names },
      { type: "local_shell_call_output", ...answer },
    ];
    expect(kept(items)).toEqual(items);
  });

  test("has both of its names to itself", () => {
    const first = { type: "local_shell_call", call_id: "a", id: "lsh_1" };
    const answer = { type: "local_shell_call_output", id: "lsh_1", call_id: "a" };
    expect(kept([first, { ...first, call_id: "b" }, answer, answer])).toEqual([first, answer]);
  });
});

describe("an approval that was asked for", () => {
  const asked = { type: "mcp_approval_request", id: "mcpr_1", server_label: "s" };
  const given = { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true };

  test("stays with its response, and only with it", () => {
    expect(kept([asked, given, given])).toEqual([asked, given]);
    expect(kept([asked, said])).toEqual([said]);
    expect(kept([given, asked])).toEqual([]);
    expect(kept([{ ...asked, id: 4 }, given])).toEqual([]);
  });
});

describe("reasoning", () => {
  test.each([
    ["an answer", said],
    ["a search", search],
    ["an item of a type we do not know", { type: "telepathy" }],
    ["an item without a type", { content: "?" }],
    ["a client's search for tools", { type: "tool_search_call", execution: "client" }],
    ["a program", { type: "program", call_id: "a" }],
  ])("stays before %s", (_name, next) => {
    expect(kept([reasoning, reasoning, next])).toEqual([reasoning, reasoning, next]);
  });

  test.each([
    ["nothing", []],
    ["what a user says", [user]],
    ["what a user says, without a type", [{ role: "user", content: "hi" }]],
    ["a system message", [{ ...user, role: "system" }]],
    ["a developer's message", [{ ...user, role: "developer" }]],
    ["a program's output", [{ type: "program_output", call_id: "a" }]],
  ])("goes before %s", (_name, next) => {
    expect(kept([said, reasoning, reasoning, ...next])).toEqual([said, ...next]);
  });

  test("goes before an output and an approval", () => {
    const asked = { type: "mcp_approval_request", id: "mcpr_1" };
    const given = { type: "mcp_approval_response", approval_request_id: "mcpr_1" };
    expect(kept([call("a"), reasoning, output("a")])).toEqual([call("a"), output("a")]);
    expect(kept([asked, reasoning, given])).toEqual([asked, given]);
  });

  test("goes with the call that it led to, and stays for what comes next", () => {
    expect(kept([reasoning, call("a"), user])).toEqual([user]);
    expect(kept([reasoning, call("a"), said])).toEqual([reasoning, said]);
  });
});

describe("where nothing is stored", () => {
  test.each([undefined, null, "", 5])("reasoning goes if what it holds is %j", (held) => {
    const hollow = { ...reasoning, encrypted_content: held };
    const items = [reasoning, hollow, said];
    expect(kept(items, false)).toEqual([reasoning, said]);
    expect(kept(items, true)).toEqual(items);
  });

  test("items that are named by their ids go", () => {
    const items = [{ type: "item_reference", id: "msg_1" }, said];
    expect(kept(items, false)).toEqual([said]);
    expect(kept(items, true)).toEqual(items);
  });

  test("reasoning before an item that goes is torn too", () => {
    expect(kept([reasoning, { type: "item_reference", id: "fc_1" }, user], false)).toEqual([user]);
  });
});

test("what is no plain object goes", () => {
  const odd: unknown[] = [null, undefined, 5, "text", [said], new Date(0), () => said];
  const items = [...odd, said] as object[];
  expect(wellFormed(items, { stored: true })).toEqual({ items: [said], dropped: odd });
});

test("the items are the given ones, not copies", () => {
  const items = [reasoning, said];
  expect(kept(items).every((item, place) => item === items[place])).toBe(true);
});

describe("an item that is sent where nothing is stored", () => {
  test.each([
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "mcp_approval_response",
  ])("has no id if it is a %s", (type) => {
    const item = { type, id: "x_1", call_id: "a", status: "completed" };
    expect(lowered(item, { stored: false })).toEqual({ type, call_id: "a", status: "completed" });
    expect(item.id).toBe("x_1");
  });

  test.each([
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "compaction",
    "item_reference",
    "telepathy",
  ])("is sent as it came if it is a %s", (type) => {
    const item = { type, id: "x_1" };
    expect(lowered(item, { stored: false })).toBe(item);
  });

  test("is a message also where it only has a role", () => {
    expect(lowered({ role: "user", id: "msg_1" }, { stored: false })).toEqual({ role: "user" });
  });

  test("keeps its other fields, whatever they are called", () => {
    const item: WireItem = JSON.parse('{"type":"message","__proto__":{"id":1},"id":"m","a":null}');
    expect(JSON.stringify(lowered(item, { stored: false }))).toBe(
      '{"type":"message","__proto__":{"id":1},"a":null}',
    );
  });

  test("is itself where it has no id, and where things are stored", () => {
    const { id: _id, ...nameless } = said;
    expect(lowered(nameless, { stored: false })).toBe(nameless);
    expect(lowered(said, { stored: true })).toBe(said);
  });
});

const some: readonly WireItem[] = [
  call("a"),
  output("a"),
  call("b", "shell_call"),
  output("b", "shell_call"),
  { type: "mcp_approval_request", id: "mcpr_1" },
  { type: "mcp_approval_response", approval_request_id: "mcpr_1" },
  reasoning,
  { ...reasoning, id: "rs_2", encrypted_content: null },
  said,
  search,
  user,
  { type: "item_reference", id: "msg_0" },
];

test("a watch knows without looking back what going through the list would show", () => {
  const lists = fc.array(fc.constantFrom(...some), { maxLength: 12 });
  fc.assert(
    fc.property(lists, fc.boolean(), (items, stored) => {
      const watch = new Watch({ stored });
      for (const [place, item] of items.entries()) {
        watch.see(item);
        expect(watch.whole).toBe(!fitting(items.slice(0, place + 1), { stored }).includes(false));
      }
    }),
    { numRuns: 500 },
  );
});
