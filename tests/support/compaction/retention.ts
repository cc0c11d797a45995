import { isPlainObject } from "../../../src/base/freeze.ts";
import { recordsAt, textAt, textsAt } from "../../../src/base/reading.ts";

/** A request as a recorder saw it. */
export interface RecordedRequest {
  readonly method: string;
  /** Below `/v1`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** All that may be asked where nothing is to be kept: containers are announced and removed. */
const ALLOWED = /^(?:POST \/responses(?:\/compact|\/input_tokens)?|\w+ \/containers(?:\/.*)?)$/;

/** What a request would have kept by, or stand for something that is kept. */
const KEEPING = ["previous_response_id", "conversation", "background", "prompt"];

/** Responses, files, vector stores, conversations, prompts, batches and uploads. */
const STORED_ID = /^(?:resp_|file[-_]|vs_|conv_|pmpt_|batch_|upload_)/;

/**
 * Items that go without an id. The schema demands one of a hosted call, and gives compactions one;
 * with `store: false` it names nothing that could be looked up. A container's file (`cfile_…`)
 * goes with its container.
 */
const WITHOUT_ID = ["message", "reasoning", "function_call", "function_call_output"];

/** What in these requests has the provider keep something, or says what it has kept. */
export function retentionProblems(requests: readonly RecordedRequest[]): readonly string[] {
  return requests.flatMap((request, index) => {
    const what = `request ${index + 1}, ${request.method} ${request.path}`;
    return problemsOf(request).map((problem) => `${what}: ${problem}`);
  });
}

function problemsOf({ method, path, body }: RecordedRequest): readonly string[] {
  const problems = ALLOWED.test(`${method} ${path}`) ? [] : ["it is none of the routes"];
  if (path === "/responses" && body["store"] !== false)
    problems.push("it does not say store: false");
  const include = textsAt(body, "include");
  // A block that a workspace runs for itself is no conversation: nothing of it is sent back.
  const isConversation = path === "/responses" && !isPlainObject(body["tool_choice"]);
  if (isConversation && !include.includes("reasoning.encrypted_content")) {
    problems.push("it does not ask for sealed reasoning");
  }
  for (const key of KEEPING) if (body[key] !== undefined) problems.push(`it has ${key}`);
  for (const id of storedIdsIn(body)) problems.push(`it names ${id}`);
  for (const item of recordsAt(body, "input")) problems.push(...itemProblems(item));
  return problems;
}

function itemProblems(item: Readonly<Record<string, unknown>>): readonly string[] {
  const type = textAt(item, "type");
  const problems: string[] = [];
  if (type === "item_reference") problems.push("an item_reference");
  if (WITHOUT_ID.includes(type) && "id" in item) problems.push(`the id of a ${type}`);
  if (type !== "reasoning") return problems;
  if (textAt(item, "encrypted_content") === "") problems.push("reasoning that is not sealed");
  if (recordsAt(item, "content").length > 0) problems.push("reasoning in its own words");
  return problems;
}

function storedIdsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return STORED_ID.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(storedIdsIn);
  return isPlainObject(value) ? Object.values(value).flatMap(storedIdsIn) : [];
}
