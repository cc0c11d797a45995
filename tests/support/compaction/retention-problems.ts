import { isPlainObject } from "../../../src/base/freeze.ts";
import { readRecords, readString, readStrings } from "../../../src/base/json.ts";

/** A recorded request. */
export interface RecordedRequest {
  readonly method: string;
  /** The path without `/v1`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The routes that are allowed with zero data retention. Containers are published and removed. */
const ALLOWED_ROUTES =
  /^(?:POST \/responses(?:\/compact|\/input_tokens)?|\w+ \/containers(?:\/.*)?)$/;

/** Request fields that store data or refer to stored data. */
const STORING_FIELDS = ["previous_response_id", "conversation", "background", "prompt"];

/** Responses, files, vector stores, conversations, prompts, batches and uploads. */
const STORED_ID = /^(?:resp_|file[-_]|vs_|conv_|pmpt_|batch_|upload_)/;

/**
 * Item types that are sent without an id. The schema requires an id for hosted calls and compactions;
 * with `store: false` it refers to no stored data. A container's file (`cfile_…`) is deleted with its
 * container.
 */
const WITHOUT_ID = ["message", "reasoning", "function_call", "function_call_output"];

/** Finds fields and items in the requests that store data at the provider or refer to stored data. */
export function findRetentionProblems(requests: readonly RecordedRequest[]): readonly string[] {
  return requests.flatMap((request, index) => {
    const what = `request ${index + 1}, ${request.method} ${request.path}`;
    return findRequestProblems(request).map((problem) => `${what}: ${problem}`);
  });
}

function findRequestProblems({ method, path, body }: RecordedRequest): readonly string[] {
  const problems = ALLOWED_ROUTES.test(`${method} ${path}`) ? [] : ["it is not an allowed route"];
  if (path === "/responses" && body["store"] !== false) problems.push("it lacks store: false");
  const include = readStrings(body, "include");
  // A workspace's own request to run code is not a conversation and does not resend reasoning.
  const isConversation = path === "/responses" && !isPlainObject(body["tool_choice"]);
  if (isConversation && !include.includes("reasoning.encrypted_content")) {
    problems.push("it does not request encrypted reasoning");
  }
  for (const key of STORING_FIELDS) if (body[key] !== undefined) problems.push(`it has ${key}`);
  for (const id of findStoredIds(body)) problems.push(`it names ${id}`);
  for (const item of readRecords(body, "input")) problems.push(...findItemProblems(item));
  return problems;
}

function findItemProblems(item: Readonly<Record<string, unknown>>): readonly string[] {
  const type = readString(item, "type");
  const problems: string[] = [];
  if (type === "item_reference") problems.push("an item_reference");
  if (WITHOUT_ID.includes(type) && "id" in item) problems.push(`the id of a ${type}`);
  if (type !== "reasoning") return problems;
  if (readString(item, "encrypted_content") === "")
    problems.push("reasoning that is not encrypted");
  if (readRecords(item, "content").length > 0) problems.push("reasoning in plain text");
  return problems;
}

function findStoredIds(value: unknown): readonly string[] {
  if (typeof value === "string") return STORED_ID.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(findStoredIds);
  return isPlainObject(value) ? Object.values(value).flatMap(findStoredIds) : [];
}
