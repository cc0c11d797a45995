import { isPlainObject } from "../../../base/freeze.ts";
import { parseJson } from "../../../base/json.ts";
import { type SpokenPart, spokenParts } from "./spoken-parts.ts";

/** A call in the history, as a call of a function. */
export interface CallItem {
  readonly id: string;
  /** The client's function, or a hosted one by the name it has among `hostedFunctions`. */
  readonly name: string;
  readonly isHosted: boolean;
  /** A JSON object. */
  readonly args: string;
  /** What came of it, where the item says so itself. */
  readonly result: readonly SpokenPart[] | null;
}

/** What came of a call, where that is an item of its own. */
export interface ResultItem {
  readonly callId: string;
  readonly parts: readonly SpokenPart[];
}

type Item = Readonly<Record<string, unknown>>;

/** The call that an item is; `null` if it is none. */
export function callIn(item: Item): CallItem | null {
  const read = calls.get(item["type"]);
  return read ? { id: idOf(item), ...read(item) } : null;
}

/** The result that an item is; `null` if it is none. */
export function resultIn(item: Item): ResultItem | null {
  const read = results.get(item["type"]);
  return read ? { callId: idOf(item), parts: read(item) } : null;
}

/** Hosted calls mostly have but one id. */
function idOf({ call_id: callId, id }: Item): string {
  return String(callId ?? id ?? "");
}

const calls: ReadonlyMap<unknown, (item: Item) => Omit<CallItem, "id">> = new Map([
  ["function_call", clientCall],
  ["custom_tool_call", ({ name, input }: Item) => clientCall({ name, arguments: input })],
  ["code_interpreter_call", pythonCall],
  [
    "shell_call",
    (item: Item) => hosted("shell", { commands: recordIn(item, "action")["commands"] }),
  ],
  [
    "local_shell_call",
    (item: Item) => {
      const { command } = recordIn(item, "action");
      return hosted("shell", { commands: [Array.isArray(command) ? command.join(" ") : command] });
    },
  ],
  ["apply_patch_call", (item: Item) => hosted("apply_patch", { operations: [item["operation"]] })],
  ["file_search_call", fileSearchCall],
  ["web_search_call", webSearchCall],
]);

const results: ReadonlyMap<unknown, (item: Item) => readonly SpokenPart[]> = new Map([
  ["function_call_output", ({ output }: Item) => spokenParts(output)],
  ["custom_tool_call_output", ({ output }: Item) => spokenParts(output)],
  ["local_shell_call_output", ({ output }: Item) => spokenParts(output)],
  ["shell_call_output", (item: Item) => said(recordsIn(item, "output").map(commandText))],
  [
    "apply_patch_call_output",
    ({ status, output }: Item) =>
      said([`The patch ${status === "failed" ? "failed" : "was applied"}.`, output]),
  ],
]);

function clientCall({ name, arguments: written }: Item): Omit<CallItem, "id"> {
  return { name: String(name), isHosted: false, args: argumentsText(written), result: null };
}

/** What a model wrote, as the JSON object that servers take it for: some parse it. */
export function argumentsText(written: unknown): string {
  if (isPlainObject(written)) return JSON.stringify(written);
  if (typeof written !== "string" || written.trim() === "") return "{}";
  const parsed = parseJson(written);
  return parsed.ok && isPlainObject(parsed.value) ? written : JSON.stringify({ input: written });
}

function hosted(
  name: string,
  args: object,
  result: readonly SpokenPart[] | null = null,
): Omit<CallItem, "id"> {
  return { name, isHosted: true, args: JSON.stringify(args), result };
}

function pythonCall(item: Item): Omit<CallItem, "id"> {
  const outputs = recordsIn(item, "outputs").map(({ type, logs }) =>
    type === "image" ? "[A picture was made.]" : logs,
  );
  return hosted("python", { code: item["code"] ?? "" }, said(outputs, "It printed nothing."));
}

function commandText({ stdout, stderr, outcome }: Item): string {
  const { type, exit_code: code } = isPlainObject(outcome) ? outcome : {};
  const end = type === "timeout" ? "It took too long and was stopped." : `Exit code: ${code}`;
  return [stdout, stderr && `stderr:\n${stderr}`, end].filter(isSaid).join("\n");
}

function fileSearchCall(item: Item): Omit<CallItem, "id"> {
  const { queries } = item;
  const query = Array.isArray(queries) ? queries.join("; ") : "";
  const found = recordsIn(item, "results").map(
    ({ filename, file_id: id, text }) => `[${filename ?? id}]\n${text ?? ""}`,
  );
  return hosted("file_search", { query }, said(found, "Nothing was found."));
}

function webSearchCall(item: Item): Omit<CallItem, "id"> {
  const action = recordIn(item, "action");
  const { type, url, pattern, query, queries } = action;
  const result = said(webResults(item, action), "Nothing was found.");
  if (type === "open_page") return hosted("open_page", { url }, result);
  if (type === "find_in_page") return hosted("find_in_page", { url, pattern }, result);
  const asked = query ?? (Array.isArray(queries) ? queries.join("; ") : "");
  return hosted("web_search", { query: asked }, result);
}

/** Pages with their text where that is kept, or else their addresses. */
function webResults(item: Item, action: Item): readonly string[] {
  const found = recordsIn(item, "results");
  const pages = found.length > 0 ? found : recordsIn(action, "sources");
  return pages.map(({ title, url, text }) =>
    [title && url ? `${title} (${url})` : url, text].filter(isSaid).join("\n"),
  );
}

/** What there is to say, in one text; `otherwise` if that is nothing. */
function said(parts: readonly unknown[], otherwise = ""): readonly SpokenPart[] {
  const text = parts.filter(isSaid).join("\n\n");
  return [{ text: text === "" ? otherwise : text }];
}

function isSaid(part: unknown): part is string {
  return typeof part === "string" && part !== "";
}

function recordIn(record: Item, key: string): Item {
  const value = record[key];
  return isPlainObject(value) ? value : {};
}

function recordsIn(record: Item, key: string): readonly Item[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
