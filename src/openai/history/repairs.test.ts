import { describe, expect, test } from "vitest";
import { complaintAboutContainer } from "../errors/complaint.ts";
import type { WireItem } from "../wire.ts";
import { containerOf, repairFor } from "./repairs.ts";

const user = { type: "message", role: "user", content: "hi" };
const said = { type: "message", role: "assistant", id: "msg_1", content: [] };
const reasoning = (id: string) => ({ type: "reasoning", id });
const call = (id: string, type = "function_call") => ({ type, id: `fc_${id}`, call_id: id });
const output = (id: string, type = "function_call") => ({ type: `${type}_output`, call_id: id });
const python = (id: unknown) => ({ type: "code_interpreter_call", id: "ci_1", container_id: id });
const shell = (id: unknown) => ({
  type: "shell_call",
  call_id: "sh",
  environment: { type: "container_reference", container_id: id },
});

const complaint = (message: string, status: number | null = 400) => ({
  status,
  message,
  code: null,
});

function named(message: string, items: readonly WireItem[], except?: string) {
  const repair = repairFor(complaint(message), items, except);
  return repair && { reason: repair.reason, items: items.filter((item) => repair.names(item)) };
}

describe("an item the provider does not have", () => {
  const lost = (id: string) =>
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;

  test("is dropped", () => {
    const search = { type: "web_search_call", id: "ws_1" };
    expect(named(lost("ws_1"), [reasoning("rs_1"), search, said])).toEqual({
      reason: 'the provider does not have the item "ws_1"',
      items: [search],
    });
  });

  test("is dropped with all calls of its type where none of them is kept", () => {
    const code = (id: string) => ({ type: "code_interpreter_call", id });
    const search = { type: "web_search_call", id: "ws_1" };
    const items = [code("ci_1"), search, code("ci_2"), said];
    expect(named(lost("ci_1"), items)?.items).toEqual([code("ci_1"), code("ci_2")]);
    expect(named("Item with id 'ci_1' not found.", items)?.items).toEqual([code("ci_1")]);
  });

  test("is dropped with what it led to, if it is reasoning", () => {
    const items = [user, reasoning("rs_1"), call("a"), call("b"), output("a"), output("b"), said];
    expect(named(lost("rs_1"), items)?.items).toEqual([reasoning("rs_1"), call("a"), call("b")]);
    const next = [reasoning("rs_1"), reasoning("rs_2"), said, reasoning("rs_3"), call("a")];
    expect(named(lost("rs_1"), next)?.items).toEqual(next.slice(0, 3));
  });

  test.each(["rs_.*", "rs_'1", "rs_[", "", "__proto__"])("may be called %j", (id) => {
    const items = [reasoning("rs_1"), said, reasoning(id), said];
    expect(named(lost(id), items)?.items).toContain(items[2]);
    expect(named(lost(id), items)?.items).not.toContain(items[0]);
  });
});

describe("reasoning that came without what it led to", () => {
  test("is dropped alone", () => {
    const message =
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
    const items = [reasoning("rs_1"), reasoning("rs_2"), said];
    expect(named(message, items)).toEqual({
      reason: 'reasoning "rs_1" lacks what it led to',
      items: [reasoning("rs_1")],
    });
  });
});

describe("an item that came without its reasoning", () => {
  const torn = (id: string, type: string) =>
    `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: 'rs_9'.`;

  test("is dropped with what came of the same reasoning", () => {
    const items = [said, call("a"), call("b"), output("a"), output("b"), said];
    expect(named(torn("fc_a", "function_call"), items)).toEqual({
      reason: 'item "fc_a" lacks the reasoning that led to it',
      items: [call("a"), call("b")],
    });
  });

  test("may be of any type", () => {
    const items = [reasoning("rs_1"), call("a"), output("a"), said, reasoning("rs_2")];
    expect(named(torn("msg_1", "message"), items)?.items).toEqual([said]);
    const heard = { ...user, id: "msg_2" };
    expect(named(torn("msg_2", "message"), [heard, said])?.items).toEqual([heard]);
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
    expect(named(message, items)).toEqual({ reason: 'call "a" has no output', items: [items[1]] });
  });

  test.each(["call_1.2", "call_(.*)", "call call", "call_1 with call_id 2"])(
    "may be called %j, which is no pattern",
    (id) => {
      const items = [call("call_1"), call(id), call("call_12"), call("")];
      const message = `No tool output found for function call ${id}.`;
      expect(named(message, items)?.items).toContainEqual(call(id));
      expect(named(message, items)?.items).not.toContainEqual(call("call_12"));
    },
  );
});

describe("an output without a call", () => {
  test.each([
    ["No tool call found for function call output with call_id a.", "function_call"],
    ["No tool call found for shell call output with call_id a", "shell_call"],
  ])("is dropped on: %s", (message, type) => {
    const items = [call("a", type), output("ab", type), output("a", type)];
    expect(named(message, items)).toEqual({
      reason: 'the output of "a" has no call',
      items: [output("a", type)],
    });
  });
});

describe("a container that is gone", () => {
  const items = [python("cntr_1"), shell("cntr_2"), python("cntr_2"), python(null), said];

  test("is dropped from the history by its name", () => {
    expect(named("Container with id 'cntr_2' not found.", items)).toEqual({
      reason: 'the container "cntr_2" is gone',
      items: [shell("cntr_2"), python("cntr_2")],
    });
    expect(named("Container with id 'cntr_3' not found.", items)).toBeNull();
  });

  test.each(["Container is expired.", "Expected container_id: cntr_9"])(
    "is any but the one that lives, on: %s",
    (message) => {
      const reason = "a container that calls ran in is gone";
      expect(named(message, items)).toEqual({ reason, items: items.slice(0, 3) });
      expect(named(message, items, "cntr_2")).toEqual({ reason, items: [python("cntr_1")] });
      expect(named(message, items.slice(0, 1), "cntr_1")).toBeNull();
      expect(named(message, [python(7), shell(null), said])).toBeNull();
    },
  );

  test("is what a complaint is about, or not", () => {
    const about = (message: string, status: number | null = 400) =>
      complaintAboutContainer(complaint(message, status));
    expect(about("Container is expired.")).toBe(true);
    expect(about("Container is expired.", null)).toBe(true);
    expect(about("Expected container_id: cntr_1")).toBe(true);
    expect(about("Container with id 'cntr_1' not found.", 404)).toBe(true);
    expect(about("Container is expired.", 500)).toBe(false);
    expect(about("Missing required parameter: 'tools[0].container'.")).toBe(false);
  });

  test("is named by code that ran in it, and by commands", () => {
    expect(containerOf(python("cntr_1"))).toBe("cntr_1");
    expect(containerOf(shell("cntr_1"))).toBe("cntr_1");
    expect(containerOf({ type: "shell_call", call_id: "a", environment: null })).toBeNull();
    expect(containerOf({ type: "message", container_id: "cntr_1" })).toBeNull();
  });
});

describe("a complaint that is not about the history", () => {
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
  ])("asks for no repair: %s", (message) => {
    expect(repairFor(complaint(message), items)).toBeNull();
  });

  test.each([401, 403, 429, 500])("is any with the status %i", (status) => {
    expect(repairFor(complaint("Container is expired.", status), items)).toBeNull();
  });

  test.each([400, 404, null])("is not one with the status %s", (status) => {
    expect(repairFor(complaint("Container is expired.", status), items)).not.toBeNull();
  });
});
