import { randomUUID } from "node:crypto";
import type { ToolAnswer } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import type { RunStep } from "./run-state.ts";

/** The result of a call, as the model reads it. */
export interface CallResult {
  /** Text or content blocks. */
  readonly content: string | readonly object[];
  readonly isError: boolean;
}

/** A call in a transcript. */
export interface TranscriptCall {
  readonly id: string;
  /** The SDK's entry with the call. */
  readonly entry: UnknownRecord;
  /** Whether the transcript has its result. */
  readonly hasResult: boolean;
}

/** Lists the calls of the model in transcript entries, in order. */
export function listCalls(entries: readonly object[]): readonly TranscriptCall[] {
  const records = entries.filter(isPlainObject);
  const answered = new Set(records.flatMap(listResultIds));
  return records.flatMap((entry) =>
    readBlocks(entry, "tool_use").map((block) => {
      const id = readString(block, "id");
      return { id, entry, hasResult: answered.has(id) };
    }),
  );
}

/** Lists the contents of entries: ids of messages and calls, and `result ID` for each result of a call. */
export function listContents(entries: readonly object[]): readonly string[] {
  return entries
    .filter(isPlainObject)
    .flatMap((entry) => [
      readString(readRecord(entry, "message"), "id"),
      ...readBlocks(entry, "tool_use").map((block) => readString(block, "id")),
      ...listResultIds(entry).map(toResultKey),
    ]);
}

/** Returns the name of a call's result in {@link listContents}. */
function toResultKey(callId: string): string {
  return `result ${callId}`;
}

/** Lists the contents that the transcript must have before a step can be resumed (see `listContents`). */
export function listStepContents({ message, native, calls }: RunStep): readonly string[] {
  if (!message) return [];
  const used = message.uses.map(({ id }) => id);
  // If the SDK waits after all calls, it writes their results later.
  const ended =
    calls.length === 0 ? [] : native.map(({ id }) => id).filter((id) => used.includes(id));
  return [...(message.id === null ? [] : [message.id]), ...used, ...ended.map(toResultKey)];
}

/** Creates entries, in the SDK's format, with the results of calls that have none in the transcript. */
export function createResultEntries(
  entries: readonly object[],
  results: ReadonlyMap<string, CallResult>,
): readonly object[] {
  return listCalls(entries).flatMap(({ id, entry, hasResult }) => {
    const found = hasResult ? undefined : results.get(id);
    return found ? [createResultEntry(id, entry, found)] : [];
  });
}

/** Returns the results of calls to the prompt's tools by their ids. */
export function toAnswerResults(answers: readonly ToolAnswer[]): ReadonlyMap<string, CallResult> {
  return new Map(
    answers.map(({ call, result, text }) => [
      call.callId,
      { content: text, isError: !result.success },
    ]),
  );
}

/** Returns the results of a batch of calls, from the SDK's hook, by their ids. */
export function toBatchResults(
  calls: readonly UnknownRecord[],
  failedIds: ReadonlySet<string>,
): ReadonlyMap<string, CallResult> {
  return new Map(
    calls.map((call) => {
      const id = readString(call, "tool_use_id");
      const content = readStringOrNull(call, "tool_response") ?? readRecords(call, "tool_response");
      return [id, { content, isError: failedIds.has(id) }];
    }),
  );
}

/** The fields that every entry of a transcript has. */
const COMMON_FIELDS = ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch"];

function createResultEntry(callId: string, entry: UnknownRecord, result: CallResult): object {
  const { content, isError } = result;
  const block = { type: "tool_result", tool_use_id: callId, content, is_error: isError };
  const common = COMMON_FIELDS.filter((name) => Object.hasOwn(entry, name));
  return {
    parentUuid: readString(entry, "uuid"),
    isSidechain: false,
    type: "user",
    message: { role: "user", content: [block] },
    uuid: randomUUID(),
    timestamp: readString(entry, "timestamp"),
    sourceToolAssistantUUID: readString(entry, "uuid"),
    ...Object.fromEntries(common.map((name) => [name, entry[name]])),
  };
}

function listResultIds(entry: UnknownRecord): readonly string[] {
  return readBlocks(entry, "tool_result").map((block) => readString(block, "tool_use_id"));
}

function readBlocks(entry: UnknownRecord, type: string): readonly UnknownRecord[] {
  return readRecords(readRecord(entry, "message"), "content").filter(
    (block) => block["type"] === type,
  );
}
