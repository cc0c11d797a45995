import type { WireItem, WireShellOutput } from "../../src/openai/wire.ts";

/** Creates a message with `text`. To change fields: `{ ...message("Half"), status: "incomplete" }`. */
export function message(text: string, annotations: readonly WireItem[] = []): WireItem {
  return createMessage({ type: "output_text", text, annotations, logprobs: [] });
}

/** Creates a message with a refusal. */
export function refusal(text: string): WireItem {
  return createMessage({ type: "refusal", refusal: text });
}

function createMessage(part: WireItem): WireItem {
  return { type: "message", role: "assistant", status: "completed", content: [part] };
}

/** Creates a reasoning item. Another item of the model must follow it. */
export function reasoning(id?: string, encrypted = "sealed"): WireItem {
  const item = { type: "reasoning", summary: [], encrypted_content: encrypted };
  return id === undefined ? item : { ...item, id };
}

/** Creates a function call. `args` is JSON text or a value to serialize. */
export function functionCall(name: string, args: string | object, callId?: string): WireItem {
  const item = { type: "function_call", status: "completed", name, arguments: toJson(args) };
  return callId === undefined ? item : { ...item, call_id: callId };
}

function toJson(args: string | object): string {
  return typeof args === "string" ? args : JSON.stringify(args);
}

export function webSearchCall(query = "owls", urls: readonly string[] = []): WireItem {
  const sources = urls.map((url) => ({ type: "url", url }));
  const action = { type: "search", query, queries: [query], sources };
  return { type: "web_search_call", status: "completed", action };
}

export function fileSearchCall(queries: readonly string[], results: readonly WireItem[]): WireItem {
  return { type: "file_search_call", status: "completed", queries, results };
}

/** Creates a code interpreter call. A string in `given` becomes a logs output. */
export function codeInterpreterCall(
  code: string,
  given: readonly (string | WireItem)[] = [],
  containerId = "cntr_1",
): WireItem {
  const outputs = given.map((one) => (typeof one === "string" ? { type: "logs", logs: one } : one));
  const ran = { status: "completed", code, container_id: containerId, outputs };
  return { type: "code_interpreter_call", ...ran };
}

/** Creates a shell call: local without a container id. */
export function shellCall(commands: readonly string[], containerId?: string): WireItem {
  const environment =
    containerId === undefined
      ? { type: "local" }
      : { type: "container_reference", container_id: containerId };
  const action = { commands, timeout_ms: null, max_output_length: null };
  return { type: "shell_call", status: "completed", action, environment };
}

/** Creates the output of the preceding shell call, in a container. */
export function shellCallOutput(output: readonly WireShellOutput[]): WireItem {
  return { type: "shell_call_output", status: "completed", max_output_length: null, output };
}

export function applyPatchCall(operation: WireItem): WireItem {
  return { type: "apply_patch_call", status: "completed", operation };
}

export function mcpCall(name: string, args: string | object, output: string | null): WireItem {
  const call = { server_label: "server", name, arguments: toJson(args), approval_request_id: null };
  return { type: "mcp_call", status: "completed", ...call, output, error: null };
}

export function mcpApprovalRequest(name: string, args: string | object): WireItem {
  return { type: "mcp_approval_request", server_label: "server", name, arguments: toJson(args) };
}

export function mcpListTools(names: readonly string[]): WireItem {
  const tools = names.map((name) => ({ name, input_schema: { type: "object" } }));
  return { type: "mcp_list_tools", server_label: "server", tools };
}

/** Creates an image generation call; `result` is base64. */
export function imageGenerationCall(result: string | null): WireItem {
  return { type: "image_generation_call", status: "completed", result };
}

export function urlCitation(url: string, title: string, [start, end]: Span = [0, 0]): WireItem {
  return { type: "url_citation", url, title, start_index: start, end_index: end };
}

export function fileCitation(fileId: string, filename: string, index = 0): WireItem {
  return { type: "file_citation", file_id: fileId, filename, index };
}

/** Creates a citation of a file in container `cntr_1`. */
export function containerFileCitation(id: string, filename: string, span: Span = [0, 0]): WireItem {
  const file = { container_id: "cntr_1", file_id: id, filename };
  return { type: "container_file_citation", ...file, start_index: span[0], end_index: span[1] };
}

type Span = readonly [start: number, end: number];
