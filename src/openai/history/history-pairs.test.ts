import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WireItem } from "../wire.ts";
import { keepValidHistory, markValidItems, PairMonitor, toSentItem } from "./history-pairs.ts";

const user = { type: "message", role: "user", content: "hi" };
const answer = { type: "message", role: "assistant", id: "msg_1", content: [] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };
const search = { type: "web_search_call", id: "ws_1", status: "completed" };
const call = (id: unknown, type = "function_call") => ({ type, call_id: id, name: "add" });
const output = (id: unknown, type = "function_call") => ({ type: `${type}_output`, call_id: id });

const keepItems = (items: readonly object[], stored = true) =>
  keepValidHistory(items, { stored }).items;

describe("a call that needs an output", () => {
  const types = [
    "function_call",
    "custom_tool_call",
    "shell_call",
    "apply_patch_call",
    "local_shell_call",
    "computer_call",
  ];

  test.each(types)("is kept with its output: %s", (type) => {
    const items = [call("a", type), answer, output("a", type)];
    expect(keepValidHistory(items, { stored: false })).toEqual({ items, dropped: [] });
  });

  test.each(types)("is dropped without an output of the same type: %s", (type) => {
    const other = type === "shell_call" ? "computer_call" : "shell_call";
    const items = [call("a", type), output("a", other), output("b", type)];
    expect(keepValidHistory(items, { stored: true })).toEqual({ items: [], dropped: items });
  });

  test("is dropped with an output that came before it", () => {
    expect(keepItems([output("a"), call("a"), answer])).toEqual([answer]);
  });

  test("keeps only its first output", () => {
    const [first, second] = [
      { ...output("a"), output: "1" },
      { ...output("a"), output: "2" },
    ];
    expect(keepItems([call("a"), first, second])).toEqual([call("a"), first]);
  });

  test("drops a second open call with the same id, and its output", () => {
    const items = [call("a"), call("a"), output("a"), output("a")];
    expect(keepItems(items)).toEqual([items[0], items[2]]);
  });

  test("may reuse the id of an answered call, as some servers do", () => {
    const items = [call("a"), output("a"), call("a"), output("a")];
    expect(keepItems(items)).toEqual(items);
    expect(keepItems(items.slice(0, 3))).toEqual(items.slice(0, 2));
  });

  test("may share its id with a call of another type", () => {
    const items = [call("a"), call("a", "shell_call"), output("a", "shell_call"), output("a")];
    expect(keepItems(items)).toEqual(items);
  });

  test.each([undefined, null, 7, "", {}])("is dropped with its output if its id is %j", (id) => {
    expect(keepItems([call(id), output(id)])).toEqual([]);
  });

  test("may be answered among other calls, in any order", () => {
    const items = [call("a"), call("b"), user, output("b"), output("a")];
    expect(keepItems(items)).toEqual(items);
  });
});

describe("a local shell call", () => {
  test.each([
    [{ call_id: "a" }, { call_id: "a" }],
    [{ call_id: "a", id: "lsh_1" }, { id: "lsh_1" }],
    [{ call_id: "a", id: "lsh_1" }, { id: "a" }],
    [{ id: "lsh_1" }, { call_id: "lsh_1" }],
  ])("%j matches the output %j", (names, response) => {
    const items = [
      { type: "local_shell_call", ...names },
      { type: "local_shell_call_output", ...response },
    ];
    expect(keepItems(items)).toEqual(items);
  });

  test("drops a second call that shares either of its ids", () => {
    const first = { type: "local_shell_call", call_id: "a", id: "lsh_1" };
    const response = { type: "local_shell_call_output", id: "lsh_1", call_id: "a" };
    expect(keepItems([first, { ...first, call_id: "b" }, response, response])).toEqual([
      first,
      response,
    ]);
  });
});

describe("an approval request", () => {
  const request = { type: "mcp_approval_request", id: "mcpr_1", server_label: "s" };
  const approval = { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true };

  test("is kept only with its response", () => {
    expect(keepItems([request, approval, approval])).toEqual([request, approval]);
    expect(keepItems([request, answer])).toEqual([answer]);
    expect(keepItems([approval, request])).toEqual([]);
    expect(keepItems([{ ...request, id: 4 }, approval])).toEqual([]);
  });
});

describe("reasoning", () => {
  test.each([
    ["an answer", answer],
    ["a web search", search],
    ["an item of an unknown type", { type: "telepathy" }],
    ["an item without a type", { content: "?" }],
    ["a client-side tool search", { type: "tool_search_call", execution: "client" }],
    ["a program", { type: "program", call_id: "a" }],
  ])("is kept before %s", (_name, next) => {
    expect(keepItems([reasoning, reasoning, next])).toEqual([reasoning, reasoning, next]);
  });

  test.each([
    ["nothing", []],
    ["a user message", [user]],
    ["a user message without a type", [{ role: "user", content: "hi" }]],
    ["a system message", [{ ...user, role: "system" }]],
    ["a developer message", [{ ...user, role: "developer" }]],
    ["a program's output", [{ type: "program_output", call_id: "a" }]],
  ])("is dropped before %s", (_name, next) => {
    expect(keepItems([answer, reasoning, reasoning, ...next])).toEqual([answer, ...next]);
  });

  test("is dropped before an output and an approval", () => {
    const request = { type: "mcp_approval_request", id: "mcpr_1" };
    const approval = { type: "mcp_approval_response", approval_request_id: "mcpr_1" };
    expect(keepItems([call("a"), reasoning, output("a")])).toEqual([call("a"), output("a")]);
    expect(keepItems([request, reasoning, approval])).toEqual([request, approval]);
  });

  test("is dropped with its dropped call, unless other output follows", () => {
    expect(keepItems([reasoning, call("a"), user])).toEqual([user]);
    expect(keepItems([reasoning, call("a"), answer])).toEqual([reasoning, answer]);
  });
});

describe("without storage", () => {
  test.each([undefined, null, "", 5])(
    "drops reasoning with the encrypted content %j",
    (encryptedContent) => {
      const hollow = { ...reasoning, encrypted_content: encryptedContent };
      const items = [reasoning, hollow, answer];
      expect(keepItems(items, false)).toEqual([reasoning, answer]);
      expect(keepItems(items, true)).toEqual(items);
    },
  );

  test("drops item references", () => {
    const items = [{ type: "item_reference", id: "msg_1" }, answer];
    expect(keepItems(items, false)).toEqual([answer]);
    expect(keepItems(items, true)).toEqual(items);
  });

  test("drops reasoning before a dropped item", () => {
    expect(keepItems([reasoning, { type: "item_reference", id: "fc_1" }, user], false)).toEqual([
      user,
    ]);
  });
});

test("keepValidItems() drops values that are not plain objects", () => {
  const odd: unknown[] = [null, undefined, 5, "text", [answer], new Date(0), () => answer];
  const items = [...odd, answer] as object[];
  expect(keepValidHistory(items, { stored: true })).toEqual({ items: [answer], dropped: odd });
});

test("keepValidItems() returns the original items, not copies", () => {
  const items = [reasoning, answer];
  expect(keepItems(items).every((item, index) => item === items[index])).toBe(true);
});

describe("toSentItem()", () => {
  test.each([
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "mcp_approval_response",
  ])("removes the id of a %s without storage", (type) => {
    const item = { type, id: "x_1", call_id: "a", status: "completed" };
    expect(toSentItem(item, { stored: false })).toEqual({
      type,
      call_id: "a",
      status: "completed",
    });
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
  ])("returns a %s unchanged", (type) => {
    const item = { type, id: "x_1" };
    expect(toSentItem(item, { stored: false })).toBe(item);
  });

  test("treats an item with only a role as a message", () => {
    expect(toSentItem({ role: "user", id: "msg_1" }, { stored: false })).toEqual({ role: "user" });
  });

  test("keeps all other fields, even __proto__", () => {
    const item: WireItem = JSON.parse('{"type":"message","__proto__":{"id":1},"id":"m","a":null}');
    expect(JSON.stringify(toSentItem(item, { stored: false }))).toBe(
      '{"type":"message","__proto__":{"id":1},"a":null}',
    );
  });

  test("returns the same object without an id, and with storage", () => {
    const { id: _id, ...nameless } = answer;
    expect(toSentItem(nameless, { stored: false })).toBe(nameless);
    expect(toSentItem(answer, { stored: true })).toBe(answer);
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
  answer,
  search,
  user,
  { type: "item_reference", id: "msg_0" },
];

test("PairMonitor agrees with markValidItems() after each item", () => {
  const lists = fc.array(fc.constantFrom(...some), { maxLength: 12 });
  fc.assert(
    fc.property(lists, fc.boolean(), (items, stored) => {
      const monitor = new PairMonitor({ stored });
      for (const [index, item] of items.entries()) {
        monitor.observe(item);
        expect(monitor.isComplete).toBe(
          !markValidItems(items.slice(0, index + 1), { stored }).includes(false),
        );
      }
    }),
    { numRuns: 500 },
  );
});
