import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { chunksOf } from "../../event-chunks.ts";
import type { ItemEvent, ItemEvents } from "./item-events.ts";
import { messageEvents, reasoningEvents } from "./texts.ts";

/** The events of an item by its type; of one that has none, nothing but the two that all have. */
export function eventsOfItem(item: WireItem): ItemEvents {
  const tell = tellers.get(String(item["type"]));
  return tell?.(item) ?? { added: inProgress(item), running: [], finished: [] };
}

type Teller = (item: WireItem) => ItemEvents;

const tellers: ReadonlyMap<string, Teller> = new Map<string, Teller>([
  ["message", messageEvents],
  ["reasoning", reasoningEvents],
  ["function_call", (item) => written(item, "arguments", "function_call_arguments")],
  ["custom_tool_call", (item) => written(item, "input", "custom_tool_call_input")],
  ["web_search_call", webSearchCall],
  ["file_search_call", (item) => searched(item, { queries: [], results: null })],
  ["code_interpreter_call", codeInterpreterCall],
  ["shell_call", shellCall],
  ["shell_call_output", shellCallOutput],
  ["apply_patch_call", applyPatchCall],
  ["local_shell_call", localShellCall],
  ["mcp_list_tools", mcpListTools],
  ["mcp_call", mcpCall],
  ["image_generation_call", imageGenerationCall],
  ["compaction", compaction],
]);

function inProgress(item: WireItem): WireItem {
  return "status" in item ? { ...item, status: "in_progress" } : item;
}

/** A text that the model writes into a call of the client's. */
function written(item: WireItem, key: string, name: string): ItemEvents {
  const text = textIn(item, key);
  return {
    added: { ...inProgress(item), [key]: "" },
    running: deltas(`response.${name}`, item, text, { [key]: text }),
    finished: [],
  };
}

function* deltas(name: string, item: WireItem, text: string, whole: WireItem): Iterable<ItemEvent> {
  const { id: item_id } = item;
  for (const delta of chunksOf(text)) yield { type: `${name}.delta`, item_id, delta };
  yield { type: `${name}.done`, item_id, ...whole };
}

/** Events that say no more than how far a call has come. */
function stages(item: WireItem, ...names: readonly string[]): readonly ItemEvent[] {
  return names.map((name) => ({
    type: `response.${textIn(item, "type")}.${name}`,
    item_id: item["id"],
  }));
}

function searched(item: WireItem, empty: WireItem): ItemEvents {
  return {
    added: { ...inProgress(item), ...empty },
    running: stages(item, "in_progress", "searching"),
    finished: stages(item, "completed"),
  };
}

function webSearchCall(item: WireItem): ItemEvents {
  const { action: _action, results: _results, ...bare } = item;
  return searched(bare, {});
}

function codeInterpreterCall(item: WireItem): ItemEvents {
  const code = textIn(item, "code");
  return {
    added: { ...inProgress(item), code: "", outputs: null },
    running: [
      ...stages(item, "in_progress"),
      ...deltas("response.code_interpreter_call_code", item, code, { code }),
      ...stages(item, "interpreting"),
    ],
    finished: stages(item, "completed"),
  };
}

function shellCall(item: WireItem): ItemEvents {
  const action = recordIn(item, "action");
  const commands = listIn(action, "commands").map(String);
  return {
    added: { ...inProgress(item), action: { ...action, commands: [] } },
    running: commands.flatMap((command, command_index) => {
      const name = "response.shell_call_command";
      return [
        { type: `${name}.added`, command_index, command: "" },
        ...chunksOf(command).map((delta) => ({ type: `${name}.delta`, command_index, delta })),
        { type: `${name}.done`, command_index, command },
      ];
    }),
    finished: [],
  };
}

/** One entry for each command; it was `completed` when first heard of. */
function shellCallOutput(item: WireItem): ItemEvents {
  const name = "response.shell_call_output_content";
  const running = listIn(item, "output").flatMap((entry, command_index) => {
    const place = { item_id: item["id"], command_index };
    const streams = ["stdout", "stderr"].flatMap((key) => {
      const text = isPlainObject(entry) ? textIn(entry, key) : "";
      return chunksOf(text).map((part) => ({
        type: `${name}.delta`,
        ...place,
        delta: { [key]: part },
      }));
    });
    return [...streams, { type: `${name}.done`, ...place, output: [entry] }];
  });
  return { added: { ...item, output: [] }, running, finished: [] };
}

function applyPatchCall(item: WireItem): ItemEvents {
  const operation = recordIn(item, "operation");
  if (!("diff" in operation)) return { added: inProgress(item), running: [], finished: [] };
  const diff = textIn(operation, "diff");
  return {
    added: { ...inProgress(item), operation: { ...operation, diff: "" } },
    running: deltas("response.apply_patch_call_operation_diff", item, diff, { diff }),
    finished: [],
  };
}

function localShellCall(item: WireItem): ItemEvents {
  const action = { ...recordIn(item, "action"), command: [] };
  return { added: { ...inProgress(item), action }, running: [], finished: [] };
}

function mcpListTools(item: WireItem): ItemEvents {
  const hasFailed = typeof item["error"] === "string" || isPlainObject(item["error"]);
  return {
    added: { ...item, tools: [] },
    running: stages(item, "in_progress"),
    finished: stages(item, hasFailed ? "failed" : "completed"),
  };
}

function mcpCall(item: WireItem): ItemEvents {
  const text = textIn(item, "arguments");
  return {
    added: { ...inProgress(item), arguments: "", output: null, error: null },
    running: [
      ...stages(item, "in_progress"),
      ...deltas("response.mcp_call_arguments", item, text, { arguments: text }),
    ],
    finished: stages(item, item["status"] === "failed" ? "failed" : "completed"),
  };
}

function imageGenerationCall(item: WireItem): ItemEvents {
  const { id, type } = item;
  return {
    added: { id, type, status: "in_progress", result: null },
    running: stages(item, "in_progress", "generating"),
    finished: stages(item, "completed"),
  };
}

/** What is sealed is whole only when it is done: half of it opens nowhere. */
function compaction(item: WireItem): ItemEvents {
  const sealed = textIn(item, "encrypted_content");
  const added = { ...item, encrypted_content: sealed.slice(0, sealed.length / 2) };
  return { added, running: [], finished: [] };
}

function textIn(record: WireItem, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}

function recordIn(record: WireItem, key: string): WireItem {
  const value = record[key];
  return isPlainObject(value) ? value : {};
}

function listIn(record: WireItem, key: string): readonly unknown[] {
  const value = record[key];
  return Array.isArray(value) ? value : [];
}
