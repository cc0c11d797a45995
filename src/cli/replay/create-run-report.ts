import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  type UnknownRecord,
} from "../../base/json.ts";
import type {
  RecordedBody,
  RecordedExchange,
  Recording,
} from "../../testing/cassette/recorded-exchange.ts";
import { readModelResponse } from "./read-model-response.ts";
import type {
  ExchangeReport,
  FileReport,
  RunReport,
  TurnReport,
  UsageReport,
} from "./run-report.ts";

/** Describes a recorded run. Nothing in it is executed. */
export function createRunReport(file: string, recording: Recording): RunReport {
  const { header, exchanges } = recording;
  const turns = listTurns(recording);
  return {
    file,
    version: header.version,
    recordedAt: header.recordedAt,
    exchanges: exchanges.map(describeExchange),
    turns,
    files: {
      uploaded: exchanges.flatMap(listUploads),
      downloaded: exchanges.flatMap(listDownloads),
    },
    usage: addTurnUsage(turns),
    answer: turns.findLast(({ isWorkspace, text }) => !isWorkspace && text !== "")?.text ?? null,
  };
}

/** Whether a request was sent by a workspace, to run its own Python. */
export function isWorkspaceRequest({ body }: RecordedExchange["request"]): boolean {
  const [first] = readRecords(readJson(body), "input");
  return first !== undefined && readString(first, "content").startsWith(WORKSPACE_REQUEST);
}

const WORKSPACE_REQUEST = "Run this Python code once, unmodified,";

/** Returns the JSON object in a request's body; an empty object if there is none. */
export function readJson(body: RecordedBody | null): UnknownRecord {
  return body !== null && "json" in body && isPlainObject(body.json) ? body.json : {};
}

function describeExchange({ exchange, atMs, request, outcome }: RecordedExchange): ExchangeReport {
  const response = typeof outcome === "object" && "response" in outcome ? outcome.response : null;
  const { method, path, body } = request;
  return {
    number: exchange,
    atMs,
    durationMs: response?.chunks.at(-1)?.[0] ?? null,
    method,
    path,
    status: response?.status ?? null,
    requestBytes: measureBody(body),
    responseBytes: response?.chunks.reduce((sum, [, bytes]) => sum + bytes, 0) ?? 0,
    problem: findProblem(outcome),
  };
}

function findProblem(outcome: RecordedExchange["outcome"]): string | null {
  if (typeof outcome === "string") return outcome;
  if ("failure" in outcome) return `failed: ${outcome.failure.message}`;
  const { ended } = outcome.response;
  if (ended === "complete") return null;
  return typeof ended === "string" ? ended : `cut off: ${ended.message}`;
}

/** The length of a recorded body. Whitespace in JSON and the boundaries of forms are not recorded. */
function measureBody(body: RecordedBody | null): number {
  if (body === null) return 0;
  if ("json" in body) return Buffer.byteLength(JSON.stringify(body.json));
  if ("text" in body) return Buffer.byteLength(body.text);
  if ("blob" in body) return body.bytes;
  return body.form.reduce(
    (sum, field) => sum + ("blob" in field ? field.bytes : Buffer.byteLength(field.value)),
    0,
  );
}

/** Lists the model's responses. Several exchanges may have the same response: the last one counts. */
function listTurns(recording: Recording): readonly TurnReport[] {
  const turns = new Map<string, TurnReport>();
  for (const exchange of recording.exchanges) {
    const response = readModelResponse(exchange, recording);
    if (!response) continue;
    const id = readString(response, "id");
    const isWorkspace = isWorkspaceRequest(exchange.request) || turns.get(id)?.isWorkspace === true;
    turns.set(id, describeTurn(exchange.exchange, response, isWorkspace));
  }
  return [...turns.values()];
}

function describeTurn(exchange: number, response: UnknownRecord, isWorkspace: boolean): TurnReport {
  const items = readRecords(response, "output");
  const calls = items.filter(({ type }) => type === "function_call" || type === "custom_tool_call");
  const usage = readRecord(response, "usage");
  return {
    exchange,
    model: readString(response, "model"),
    status: readString(response, "status"),
    text: items
      .flatMap((item) => readRecords(item, "content"))
      .map(readPartText)
      .join(""),
    toolCalls: calls.map((call) => ({
      name: readString(call, "name"),
      arguments: readString(call, "arguments") || readString(call, "input"),
    })),
    hostedCalls: items
      .map((item) => readString(item, "type"))
      .filter((type) => /_call$/.test(type) && !OWN_CALLS.has(type))
      .map((type) => type.replace(/_call$/, "")),
    usage: Object.keys(usage).length === 0 ? null : toUsageReport(usage),
    isWorkspace,
  };
}

const OWN_CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);

function readPartText(part: UnknownRecord): string {
  return part["type"] === "output_text" ? readString(part, "text") : readString(part, "refusal");
}

function toUsageReport(usage: UnknownRecord): UsageReport {
  return {
    inputTokens: readNumber(usage, "input_tokens") ?? 0,
    outputTokens: readNumber(usage, "output_tokens") ?? 0,
  };
}

function addTurnUsage(turns: readonly TurnReport[]): UsageReport {
  return turns.reduce(
    (sum, { usage }) => ({
      inputTokens: sum.inputTokens + (usage?.inputTokens ?? 0),
      outputTokens: sum.outputTokens + (usage?.outputTokens ?? 0),
    }),
    { inputTokens: 0, outputTokens: 0 },
  );
}

function listUploads({ exchange, request: { body } }: RecordedExchange): readonly FileReport[] {
  if (body === null || !("form" in body)) return [];
  return body.form.flatMap((field) =>
    "blob" in field ? [{ exchange, name: field.filename, bytes: field.bytes }] : [],
  );
}

function listDownloads({ exchange, request, outcome }: RecordedExchange): readonly FileReport[] {
  const isContent = request.method === "GET" && /\/content(?:\?|$)/.test(request.path);
  if (!isContent || typeof outcome === "string" || !("response" in outcome)) return [];
  const { status, chunks } = outcome.response;
  if (status !== 200) return [];
  const bytes = chunks.reduce((sum, [, length]) => sum + length, 0);
  return [{ exchange, name: request.path, bytes }];
}
