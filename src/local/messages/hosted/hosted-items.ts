import { isPlainObject } from "../../../base/freeze.ts";
import { readNumber, readRecord, readString } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { runners } from "../../tools/index.ts";

/** Converts a call of one of the API's tools, and its result, to OpenAI's items. */
export function toHostedItems(block: WireItem, blocks: readonly WireItem[]): readonly WireItem[] {
  const input = readRecord(block, "input");
  const { content } = blocks.find((one) => one["tool_use_id"] === block["id"]) ?? {};
  const call = { block, input, content };
  switch (block["name"]) {
    case "web_search":
      return [toSearchItem(call)];
    case "web_fetch":
      return [toPageItem(call)];
    case "code_execution":
      return [toPythonItem(call)];
    case "bash_code_execution":
      return toCommandItems(call);
    case "text_editor_code_execution":
      return toEditorItems(call);
    default:
      return []; // a search for tools, which the model has not asked for
  }
}

interface HostedCall {
  readonly block: WireItem;
  readonly input: WireItem;
  readonly content: unknown;
}

function toSearchItem({ block, input, content }: HostedCall): WireItem {
  const query = readString(input, "query");
  const pages = Array.isArray(content) ? content.filter(isPlainObject) : [];
  const sources = pages.map(({ url }) => ({ type: "url", url }));
  const results = pages.map(({ url, title }) => ({ type: "text", url, title, text: "" }));
  const action = { type: "search", query, queries: [query], sources };
  return { id: block["id"], type: "web_search_call", status: "completed", action, results };
}

function toPageItem({ block, input, content }: HostedCall): WireItem {
  const { url } = input;
  const page = readRecord({ content: { ...Object(content) } }, "content");
  const { title = null, source } = readRecord(page, "content");
  const text = readString({ ...Object(source) }, "data");
  const results = text === "" ? [] : [{ type: "text", url, title, text }];
  const action = { type: "open_page", url };
  return { id: block["id"], type: "web_search_call", status: "completed", action, results };
}

function toPythonItem({ block, input, content }: HostedCall): WireItem {
  const { stdout, stderr } = readRun(content);
  const logs = [stdout, stderr].filter((part) => part !== "").join("\n");
  return {
    id: block["id"],
    type: `${runners.code.kind}_call`,
    status: "completed",
    code: readString(input, "code"),
    container_id: "",
    outputs: logs === "" ? [] : [{ type: "logs", logs }],
  };
}

function toCommandItems({ block, input, content }: HostedCall): readonly WireItem[] {
  const { stdout, stderr, exitCode } = readRun(content);
  const outcome = exitCode === null ? { type: "timeout" } : { type: "exit", exit_code: exitCode };
  const action = { commands: [readString(input, "command")] };
  const environment = { type: "container_reference", container_id: "" };
  const call = { call_id: block["id"], status: "completed" };
  return [
    { type: "shell_call", ...call, action, environment },
    { type: "shell_call_output", ...call, output: [{ stdout, stderr, outcome }] },
  ];
}

function toEditorItems({ block, input, content }: HostedCall): readonly WireItem[] {
  const call = { call_id: block["id"], status: "completed" };
  const args = JSON.stringify(input);
  return [
    { type: "function_call", ...call, name: block["name"], arguments: args },
    { type: "function_call_output", ...call, output: JSON.stringify(content ?? null) },
  ];
}

function readRun(content: unknown) {
  const run: WireItem = { ...Object(content) };
  return {
    stdout: readString(run, "stdout"),
    stderr: readString(run, "stderr"),
    exitCode: readNumber(run, "return_code"),
  };
}
