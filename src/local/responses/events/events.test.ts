import { describe, expect, test } from "vitest";
import { ApiProblem } from "../../api-problem.ts";
import { builtInCatalog } from "../../tools/index.ts";
import {
  EventSequence,
  createEvents as eventsWith,
  formatEvent,
  type ResponseStep,
  type StreamEvent,
} from "./events.ts";

const createEvents = (steps: Iterable<ResponseStep>) => eventsWith(steps, builtInCatalog);

const begin = { id: "resp_1", status: "in_progress", output: [] };
const end = { id: "resp_1", status: "completed", output: [] };

/** Event types without `response.`; consecutive duplicates are merged. */
function listOrder(events: readonly StreamEvent[]): readonly string[] {
  const types = events.map(({ type }) => type.replace("response.", ""));
  return types.filter((type, at) => type !== types[at - 1]);
}

const createItemEvents = (item: object) => createEvents([{ item: { ...item } }]);

const text = "Parrots talk. They do so at length, and in several tongues.";
const createMessage = (...content: readonly object[]) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content,
});
const said = { type: "output_text", text, annotations: [], logprobs: [] };

describe("a stream", () => {
  test("has start events, item events and an end event", () => {
    const events = createEvents([{ begin }, { item: createMessage(said) }, { end }]);
    expect(listOrder(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[0]).toEqual({ type: "response.created", response: begin, sequence_number: 0 });
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: end });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
  });

  test.each(["completed", "failed", "incomplete"])(
    "ends with the status of its response: %s",
    (status) => {
      expect(createEvents([{ end: { status } }])[0]?.type).toBe(`response.${status}`);
    },
  );

  test("contains a nested error, followed by the failed response", () => {
    const problem = new ApiProblem(500, "Oh.", { code: "server_error" });
    const events = createEvents([{ begin }, { problem }, { end: { status: "failed" } }]);
    expect(events.slice(2)).toEqual([
      {
        type: "error",
        sequence_number: 2,
        error: { type: "server_error", code: "server_error", message: "Oh.", param: null },
      },
      { type: "response.failed", sequence_number: 3, response: { status: "failed" } },
    ]);
  });

  test("numbers its items", () => {
    const events = createEvents([
      { item: createMessage(said) },
      { item: { type: "compaction", id: "cmp_1" } },
    ]);
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expect(done.map((event) => event["output_index"])).toEqual([0, 1]);
  });

  test("has the start events of a call before it runs, and the rest afterward", () => {
    const sequence = new EventSequence(builtInCatalog);
    const call = { id: "ci_1", type: "code_interpreter_call", status: "in_progress", code: "1" };
    const start = [...sequence.createItemStart(call)];
    expect(listOrder(start).at(-1)).toBe("code_interpreter_call.interpreting");
    expect(() => [...sequence.createItemStart(call)]).toThrow("The previous item is not finished.");
    const outputs = [{ type: "logs", logs: "1" }];
    const end = [...sequence.createItem({ ...call, status: "completed", outputs })];
    expect(listOrder(end).slice(-2)).toEqual([
      "code_interpreter_call.completed",
      "output_item.done",
    ]);
    expect(end.at(-1)?.["item"]).toMatchObject({ outputs });
  });

  test("is formatted as server-sent events", () => {
    const event = { type: "response.created", sequence_number: 0, response: { text: "a\nb" } };
    expect(formatEvent(event)).toBe(`event: response.created\ndata: ${JSON.stringify(event)}\n\n`);
    expect(formatEvent(event).split("\n")).toHaveLength(4);
  });
});

const entry = (stdout: string, stderr: string) => ({
  stdout,
  stderr,
  outcome: { type: "exit", exit_code: 0 },
});

describe("the events of an item", () => {
  test.each<readonly [item: object, order: string]>([
    [
      createMessage(said, { type: "refusal", refusal: "No." }),
      "content_part.added output_text.delta output_text.done content_part.done content_part.added refusal.delta refusal.done content_part.done",
    ],
    [{ type: "reasoning", id: "rs_1", summary: [] }, ""],
    [
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text }] },
      "reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done",
    ],
    [
      { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text }] },
      "content_part.added reasoning_text.delta reasoning_text.done content_part.done",
    ],
    [
      { type: "function_call", id: "fc_1", arguments: text },
      "function_call_arguments.delta function_call_arguments.done",
    ],
    [
      { type: "custom_tool_call", id: "ctc_1", input: text },
      "custom_tool_call_input.delta custom_tool_call_input.done",
    ],
    [
      { type: "web_search_call", id: "ws_1", action: {} },
      "web_search_call.in_progress web_search_call.searching web_search_call.completed",
    ],
    [
      { type: "file_search_call", id: "fs_1", queries: ["a"], results: [] },
      "file_search_call.in_progress file_search_call.searching file_search_call.completed",
    ],
    [
      { type: "code_interpreter_call", id: "ci_1", code: text },
      "code_interpreter_call.in_progress code_interpreter_call_code.delta code_interpreter_call_code.done code_interpreter_call.interpreting code_interpreter_call.completed",
    ],
    [
      { type: "shell_call", id: "sh_1", action: { commands: ["ls", "pwd"] } },
      "shell_call_command.added shell_call_command.delta shell_call_command.done shell_call_command.added shell_call_command.delta shell_call_command.done",
    ],
    [
      { type: "shell_call_output", id: "sho_1", output: [entry("a", "b"), entry("", "")] },
      "shell_call_output_content.delta shell_call_output_content.done",
    ],
    [
      { type: "apply_patch_call", id: "apc_1", operation: { type: "create_file", diff: text } },
      "apply_patch_call_operation_diff.delta apply_patch_call_operation_diff.done",
    ],
    [{ type: "apply_patch_call", id: "apc_1", operation: { type: "delete_file" } }, ""],
    [{ type: "local_shell_call", id: "lsh_1", action: { type: "exec", command: ["ls"] } }, ""],
    [
      { type: "mcp_list_tools", id: "mcpl_1", tools: [{}] },
      "mcp_list_tools.in_progress mcp_list_tools.completed",
    ],
    [
      { type: "mcp_list_tools", id: "mcpl_1", tools: [], error: "Oh." },
      "mcp_list_tools.in_progress mcp_list_tools.failed",
    ],
    [
      { type: "mcp_call", id: "mcp_1", arguments: text, status: "completed" },
      "mcp_call.in_progress mcp_call_arguments.delta mcp_call_arguments.done mcp_call.completed",
    ],
    [
      { type: "mcp_call", id: "mcp_1", arguments: text, status: "failed" },
      "mcp_call.in_progress mcp_call_arguments.delta mcp_call_arguments.done mcp_call.failed",
    ],
    [{ type: "mcp_approval_request", id: "mcpr_1", arguments: "{}" }, ""],
    [
      { type: "image_generation_call", id: "ig_1", result: "AAAA" },
      "image_generation_call.in_progress image_generation_call.generating image_generation_call.completed",
    ],
    [{ type: "compaction", id: "cmp_1", encrypted_content: "sealed" }, ""],
    [{ type: "something_new", id: "x_1", status: "completed" }, ""],
  ])("%j are in OpenAI's order", (item, order) => {
    const between = order === "" ? [] : order.split(" ");
    expect(listOrder(createItemEvents(item))).toEqual([
      "output_item.added",
      ...between,
      "output_item.done",
    ]);
  });

  test.each<readonly [item: object, added: object]>([
    [createMessage(said), { status: "in_progress", content: [] }],
    [
      { type: "function_call", status: "completed", arguments: "{}" },
      { status: "in_progress", arguments: "" },
    ],
    [
      { type: "file_search_call", queries: ["a"], results: [1] },
      { queries: [], results: null },
    ],
    [
      { type: "code_interpreter_call", code: "1", outputs: [] },
      { code: "", outputs: null },
    ],
    [
      { type: "shell_call", action: { commands: ["ls"], timeout_ms: 1 } },
      { action: { commands: [], timeout_ms: 1 } },
    ],
    [
      { type: "shell_call_output", status: "completed", output: [entry("", "")] },
      { status: "completed", output: [] },
    ],
    [
      { type: "mcp_call", arguments: "{}", output: "a" },
      { arguments: "", output: null },
    ],
    [
      { type: "image_generation_call", result: "AAAA" },
      { status: "in_progress", result: null },
    ],
    [{ type: "local_shell_call", action: { command: ["ls"] } }, { action: { command: [] } }],
    [
      { type: "reasoning", status: "completed", summary: [1] },
      { status: "in_progress", summary: [] },
    ],
  ])("%j start with an item without its results", (item, added) => {
    const [first] = createItemEvents(item);
    expect(first?.["item"]).toMatchObject(added);
  });

  test("show a web search's action and encrypted content only when the item is done", () => {
    const [search] = createItemEvents({
      type: "web_search_call",
      id: "ws_1",
      action: {},
      results: [],
    });
    expect(search?.["item"]).toEqual({ type: "web_search_call", id: "ws_1" });
    for (const type of ["reasoning", "compaction"]) {
      const events = createItemEvents({ type, summary: [], encrypted_content: "sealed" });
      expect(events[0]?.["item"]).toMatchObject({ encrypted_content: "sea" });
      expect(events.at(-1)?.["item"]).toMatchObject({ encrypted_content: "sealed" });
    }
  });

  test("contain the item id, except shell command events", () => {
    const [, command] = createItemEvents({
      type: "shell_call",
      id: "sh_1",
      action: { commands: ["ls"] },
    });
    expect(command).toEqual({
      type: "response.shell_call_command.added",
      sequence_number: 1,
      output_index: 0,
      command_index: 0,
      command: "",
    });
    const [, delta] = createItemEvents({ type: "function_call", id: "fc_1", arguments: "{}" });
    expect(delta).toMatchObject({ item_id: "fc_1", output_index: 0, delta: "{}" });
  });

  test("have each citation right after its text, and file citations last", () => {
    const annotations = [
      { type: "url_citation", url: "u", title: "t", start_index: 0, end_index: 13 },
      { type: "file_citation", file_id: "f", filename: "n", index: 20 },
      { type: "file_path", file_id: "f" },
      { type: "container_file_citation", file_id: "c", start_index: 0, end_index: 0 },
    ];
    const events = createItemEvents(createMessage({ ...said, annotations }));
    let told = "";
    const places = events.flatMap((event) => {
      if (event.type === "response.output_text.delta") told += String(event["delta"]);
      return event.type.endsWith("annotation.added")
        ? [[event["annotation_index"], told.length]]
        : [];
    });
    expect(places).toEqual([
      [0, 13],
      [1, 20],
      [2, 20],
      [3, text.length],
    ]);
    expect(told).toBe(text);
  });

  test("handle an item with missing fields", () => {
    for (const type of ["message", "reasoning", "function_call", "shell_call", "shell_call_output"])
      expect(createItemEvents({ type }).at(-1)?.type).toBe("response.output_item.done");
    const broken = createItemEvents({ type: "shell_call_output", output: [5] });
    expect(broken[1]).toMatchObject({ output: [5] });
  });
});
