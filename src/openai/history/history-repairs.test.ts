import { describe, expect, test } from "vitest";
import { isContainerRejection } from "../errors/rejection.ts";
import type { WireItem } from "../wire.ts";
import { findRepair, getContainerId } from "./history-repairs.ts";

const user = { type: "message", role: "user", content: "hi" };
const answer = { type: "message", role: "assistant", id: "msg_1", content: [] };
const reasoning = (id: string) => ({ type: "reasoning", id });
const call = (id: string, type = "function_call") => ({ type, id: `fc_${id}`, call_id: id });
const output = (id: string, type = "function_call") => ({ type: `${type}_output`, call_id: id });
const python = (id: unknown) => ({ type: "code_interpreter_call", id: "ci_1", container_id: id });
const shell = (id: unknown) => ({
  type: "shell_call",
  call_id: "sh",
  environment: { type: "container_reference", container_id: id },
});

const createComplaint = (message: string, status: number | null = 400) => ({
  status,
  message,
  code: null,
});

function repair(message: string, items: readonly WireItem[], except?: string) {
  const found = findRepair(createComplaint(message), items, except);
  return found && { reason: found.reason, items: items.filter((item) => found.matches(item)) };
}

describe("an item that the provider does not have", () => {
  const createMessage = (id: string) =>
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;

  test("is dropped", () => {
    const search = { type: "web_search_call", id: "ws_1" };
    expect(repair(createMessage("ws_1"), [reasoning("rs_1"), search, answer])).toEqual({
      reason: 'the provider has no item "ws_1"',
      items: [search],
    });
  });

  test("is dropped with all calls of the same type if the provider stores nothing", () => {
    const code = (id: string) => ({ type: "code_interpreter_call", id });
    const search = { type: "web_search_call", id: "ws_1" };
    const items = [code("ci_1"), search, code("ci_2"), answer];
    expect(repair(createMessage("ci_1"), items)?.items).toEqual([code("ci_1"), code("ci_2")]);
    expect(repair("Item with id 'ci_1' not found.", items)?.items).toEqual([code("ci_1")]);
  });

  test("is dropped with its output if it is reasoning", () => {
    const items = [user, reasoning("rs_1"), call("a"), call("b"), output("a"), output("b"), answer];
    expect(repair(createMessage("rs_1"), items)?.items).toEqual([
      reasoning("rs_1"),
      call("a"),
      call("b"),
    ]);
    const next = [reasoning("rs_1"), reasoning("rs_2"), answer, reasoning("rs_3"), call("a")];
    expect(repair(createMessage("rs_1"), next)?.items).toEqual(next.slice(0, 3));
  });

  test.each(["rs_.*", "rs_'1", "rs_[", "", "__proto__"])("may have the id %j", (id) => {
    const items = [reasoning("rs_1"), answer, reasoning(id), answer];
    expect(repair(createMessage(id), items)?.items).toContain(items[2]);
    expect(repair(createMessage(id), items)?.items).not.toContain(items[0]);
  });
});

describe("reasoning without the item after it", () => {
  test("is dropped alone", () => {
    const message =
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
    const items = [reasoning("rs_1"), reasoning("rs_2"), answer];
    expect(repair(message, items)).toEqual({
      reason: 'reasoning "rs_1" is not followed by its output',
      items: [reasoning("rs_1")],
    });
  });
});

describe("an item without its reasoning", () => {
  const createMessage = (id: string, type: string) =>
    `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: 'rs_9'.`;

  test("is dropped with the other output of the same reasoning", () => {
    const items = [answer, call("a"), call("b"), output("a"), output("b"), answer];
    expect(repair(createMessage("fc_a", "function_call"), items)).toEqual({
      reason: 'item "fc_a" lacks the reasoning before it',
      items: [call("a"), call("b")],
    });
  });

  test("may be of any type", () => {
    const items = [reasoning("rs_1"), call("a"), output("a"), answer, reasoning("rs_2")];
    expect(repair(createMessage("msg_1", "message"), items)?.items).toEqual([answer]);
    const input = { ...user, id: "msg_2" };
    expect(repair(createMessage("msg_2", "message"), [input, answer])?.items).toEqual([input]);
  });
});

describe("a call without an output", () => {
  test.each([
    ["No tool output found for function call a.", "function_call"],
    ["No tool output found for function call a", "function_call"],
    ["No tool output found for shell call a.", "shell_call"],
    ["No tool output found for custom tool call a.", "custom_tool_call"],
    ["No tool output found for apply_patch_call a.", "apply_patch_call"],
    ["400 No tool output found for computer call a. See the guide.", "computer_call"],
  ])("is dropped on: %s", (message, type) => {
    const items = [call("ab", type), call("a", type), output("ab", type), output("a", type)];
    expect(repair(message, items)).toEqual({ reason: 'call "a" has no output', items: [items[1]] });
  });

  test.each(["call_1.2", "call_(.*)", "call call", "call_1 with call_id 2"])(
    "may have the id %j, which is not used as a pattern",
    (id) => {
      const items = [call("call_1"), call(id), call("call_12"), call("")];
      const message = `No tool output found for function call ${id}.`;
      expect(repair(message, items)?.items).toContainEqual(call(id));
      expect(repair(message, items)?.items).not.toContainEqual(call("call_12"));
    },
  );
});

describe("an output without a call", () => {
  test.each([
    ["No tool call found for function call output with call_id a.", "function_call"],
    ["No tool call found for shell call output with call_id a", "shell_call"],
  ])("is dropped on: %s", (message, type) => {
    const items = [call("a", type), output("ab", type), output("a", type)];
    expect(repair(message, items)).toEqual({
      reason: 'the output of "a" has no call',
      items: [output("a", type)],
    });
  });
});

describe("a container that no longer exists", () => {
  const items = [python("cntr_1"), shell("cntr_2"), python("cntr_2"), python(null), answer];

  test("has its calls dropped from the history by its id", () => {
    expect(repair("Container with id 'cntr_2' not found.", items)).toEqual({
      reason: 'container "cntr_2" no longer exists',
      items: [shell("cntr_2"), python("cntr_2")],
    });
    expect(repair("Container with id 'cntr_3' not found.", items)).toBeNull();
  });

  test.each(["Container is expired.", "Expected container_id: cntr_9"])(
    "is any container except the live one, on: %s",
    (message) => {
      const reason = "a container that calls ran in no longer exists";
      expect(repair(message, items)).toEqual({ reason, items: items.slice(0, 3) });
      expect(repair(message, items, "cntr_2")).toEqual({ reason, items: [python("cntr_1")] });
      expect(repair(message, items.slice(0, 1), "cntr_1")).toBeNull();
      expect(repair(message, [python(7), shell(null), answer])).toBeNull();
    },
  );

  test("is recognized in errors of the provider", () => {
    const isAboutContainer = (message: string, status: number | null = 400) =>
      isContainerRejection(createComplaint(message, status));
    expect(isAboutContainer("Container is expired.")).toBe(true);
    expect(isAboutContainer("Container is expired.", null)).toBe(true);
    expect(isAboutContainer("Expected container_id: cntr_1")).toBe(true);
    expect(isAboutContainer("Container with id 'cntr_1' not found.", 404)).toBe(true);
    expect(isAboutContainer("Container is expired.", 500)).toBe(false);
    expect(isAboutContainer("Missing required parameter: 'tools[0].container'.")).toBe(false);
  });

  test("is found in code interpreter calls and shell calls", () => {
    expect(getContainerId(python("cntr_1"))).toBe("cntr_1");
    expect(getContainerId(shell("cntr_1"))).toBe("cntr_1");
    expect(getContainerId({ type: "shell_call", call_id: "a", environment: null })).toBeNull();
    expect(getContainerId({ type: "message", container_id: "cntr_1" })).toBeNull();
  });
});

describe("an error that is not about the history", () => {
  const items = [reasoning("rs_1"), call("a"), output("a"), python("cntr_1")];

  test.each([
    "Invalid value: 'x'.",
    "Item with id 'rs_2' not found.",
    "Item with id 'rs_1' was found.",
    "Item 'rs_2' of type 'reasoning' was provided without its required following item.",
    "Item 'fc_b' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    "No tool output found for function call b.",
    "No tool output found for you.",
    "No tool call found for function call output with call_id b.",
    "No tool call found for function call output.",
    "Response with id 'resp_1' not found.",
    "The container is tired.",
    "",
  ])("has no repair: %s", (message) => {
    expect(findRepair(createComplaint(message), items)).toBeNull();
  });

  test.each([401, 403, 429, 500])("is any error with status %i", (status) => {
    expect(findRepair(createComplaint("Container is expired.", status), items)).toBeNull();
  });

  test.each([400, 404, null])("is not an error with status %s", (status) => {
    expect(findRepair(createComplaint("Container is expired.", status), items)).not.toBeNull();
  });
});
