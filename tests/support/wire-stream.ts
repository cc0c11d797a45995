import { readRecord, readRecords, readString, readStrings } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";

/** Splits a response into the events that OpenAI's API streams, in its order. */
export function toStreamEvents(response: WireItem): readonly WireItem[] {
  const unfinished = { status: "in_progress", output: [], usage: null, completed_at: null };
  const started = { ...response, ...unfinished, error: null, incomplete_details: null };
  const status = readString(response, "status");
  const error = readRecord(response, "error");
  return [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    ...readRecords(response, "output").flatMap(toItemEvents),
    ...(status === "failed" && error["message"] !== undefined
      ? [{ type: "error", error: { type: "server_error", param: null, ...error } }]
      : []),
    { type: `response.${lastStatuses.has(status) ? status : "completed"}`, response },
  ];
}

/** The statuses whose events end a stream. */
const lastStatuses = new Set(["completed", "incomplete", "failed"]);

/** Formats events as the API does, with their sequence numbers. Strings are sent unchanged. */
export function formatEvents(events: readonly (WireItem | string)[]): string {
  return events
    .map((event, index) =>
      typeof event === "string"
        ? event
        : `event: ${readString(event, "type")}\ndata: ${JSON.stringify(addNumber(event, index))}\n\n`,
    )
    .join("");
}

/** The type comes first, as in the API's events. */
function addNumber({ type, ...rest }: WireItem, index: number): WireItem {
  return { type, sequence_number: index, ...rest };
}

/** Reads the response from a body: JSON, or a stream of events. */
export function parseResponse(body: string): WireItem {
  if (!body.startsWith("event:")) return JSON.parse(body);
  const last = body.trimEnd().split("\n\n").at(-1) ?? "";
  return readRecord(JSON.parse(last.slice(last.indexOf("data: ") + "data: ".length)), "response");
}

/** Changes the response of a stream's last event, or a response that is JSON. */
export async function changeResponse(
  response: Response,
  change: (value: WireItem) => WireItem,
): Promise<Response> {
  const { status } = response;
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  const text = await response.text();
  if (!text.startsWith("event:")) {
    return Response.json(change(JSON.parse(text)), { status, headers });
  }
  const frames = text.split("\n\n").map((frame) => {
    if (!/^event: response\.(?:completed|incomplete|failed)\n/.test(frame)) return frame;
    const [name, data = ""] = frame.split("\n");
    const event: WireItem = JSON.parse(data.slice("data: ".length));
    const changed = { ...event, response: change(readRecord(event, "response")) };
    return `${name}\ndata: ${JSON.stringify(changed)}`;
  });
  return new Response(frames.join("\n\n"), { status, headers });
}

function toItemEvents(item: WireItem, index: number): readonly WireItem[] {
  const place = { output_index: index };
  return [
    { type: "response.output_item.added", ...place, item: toStartedItem(item) },
    ...toInnerEvents(item, { ...place, item_id: item["id"] }),
    { type: "response.output_item.done", ...place, item },
  ];
}

/** The item as it begins: without its content. */
function toStartedItem(item: WireItem): WireItem {
  const status = "status" in item ? { status: "in_progress" } : {};
  switch (item["type"]) {
    case "message":
      return { ...item, ...status, content: [] };
    case "function_call":
    case "mcp_call":
      return { ...item, ...status, arguments: "" };
    case "reasoning":
      return { ...item, ...status, summary: [] };
    case "code_interpreter_call":
      return { ...item, ...status, code: "", outputs: null };
    case "shell_call":
      return { ...item, ...status, action: { ...readRecord(item, "action"), commands: [] } };
    case "shell_call_output":
      return { ...item, output: [] };
    case "web_search_call": {
      const { action: _, ...rest } = item;
      return { ...rest, ...status };
    }
    case "image_generation_call":
      return { ...item, ...status, result: null };
    default:
      return { ...item, ...status };
  }
}

function toInnerEvents(item: WireItem, place: WireItem): readonly WireItem[] {
  const type = readString(item, "type");
  const { item_id: _, ...unidentified } = place;
  switch (type) {
    case "message":
      return readRecords(item, "content").flatMap((part, index) =>
        toPartEvents(part, { ...place, content_index: index }),
      );
    case "reasoning":
      return readRecords(item, "summary").flatMap((part, index) =>
        toTextEvents("response.reasoning_summary_text", readString(part, "text"), {
          ...place,
          summary_index: index,
        }),
      );
    case "function_call":
      return toArgumentEvents(type, item, place);
    case "code_interpreter_call":
      return [
        { type: `response.${type}.in_progress`, ...place },
        ...toTextEvents(`response.${type}_code`, readString(item, "code"), place, "code"),
        { type: `response.${type}.interpreting`, ...place },
        { type: `response.${type}.completed`, ...place },
      ];
    case "mcp_call":
      return [
        { type: `response.${type}.in_progress`, ...place },
        ...toArgumentEvents(type, item, place),
        { type: `response.${type}.${item["error"] ? "failed" : "completed"}`, ...place },
      ];
    case "shell_call":
      return readStrings(readRecord(item, "action"), "commands").flatMap((command, index) => {
        const at = { ...unidentified, command_index: index };
        return [
          { type: `response.${type}_command.added`, ...at, command: "" },
          ...toTextEvents(`response.${type}_command`, command, at, "command"),
        ];
      });
    case "apply_patch_call": {
      const diff = readString(readRecord(item, "operation"), "diff");
      return toTextEvents(`response.${type}_operation_diff`, diff, place, "diff");
    }
    default:
      return (statuses.get(type) ?? []).map((status) => ({
        type: `response.${type}.${status}`,
        ...place,
      }));
  }
}

const statuses: ReadonlyMap<string, readonly string[]> = new Map([
  ["web_search_call", ["in_progress", "searching", "completed"]],
  ["file_search_call", ["in_progress", "searching", "completed"]],
  ["image_generation_call", ["in_progress", "generating", "completed"]],
  ["mcp_list_tools", ["in_progress", "completed"]],
]);

function toArgumentEvents(type: string, item: WireItem, place: WireItem): readonly WireItem[] {
  return toTextEvents(
    `response.${type}_arguments`,
    readString(item, "arguments"),
    place,
    "arguments",
  );
}

function toPartEvents(part: WireItem, place: WireItem): readonly WireItem[] {
  const isText = part["type"] === "output_text";
  const [name, key] = isText ? ["output_text", "text"] : ["refusal", "refusal"];
  const empty = { ...part, [key]: "", ...(isText && { annotations: [] }) };
  const notes = readRecords(part, "annotations").map((annotation, index) => ({
    type: "response.output_text.annotation.added",
    ...place,
    annotation_index: index,
    annotation,
  }));
  return [
    { type: "response.content_part.added", ...place, part: empty },
    ...toTextEvents(`response.${name}`, readString(part, key), place, key),
    ...notes,
    { type: "response.content_part.done", ...place, part },
  ];
}

function toTextEvents(
  name: string,
  text: string,
  place: WireItem,
  key = "text",
): readonly WireItem[] {
  const deltas = splitText(text).map((delta) => ({ type: `${name}.delta`, ...place, delta }));
  return [...deltas, { type: `${name}.done`, ...place, [key]: text }];
}

/** Splits a text into at most 20 pieces, without splitting a character. */
function splitText(text: string): readonly string[] {
  const characters = [...text];
  const size = Math.max(5, Math.ceil(characters.length / 20));
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}
