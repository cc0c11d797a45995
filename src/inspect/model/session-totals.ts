import type { EgressReport } from "../../adapter/egress/egress-report.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  type UnknownRecord,
} from "../../base/json.ts";
import { addUsage, noUsage, type TokenUsage, toUsage } from "../../base/usage.ts";
import type { Answer, SessionState, SessionSummary, ToolCount } from "../session-summary.ts";
import { toPreview } from "./preview.ts";
import { UnfinishedWork, type Work } from "./unfinished-work.ts";

const MAX_TOOLS = 200;
const MAX_TEXT = 20_000;
const MAX_REQUESTS = 500;
const MAX_VERDICT = 200;
const MAX_NAME = 200;
const NOTHING_STORED: EgressReport["verdict"] = "nothing stored";

/** Totals of a session, for its summary. */
export class SessionTotals {
  state: SessionState = "empty";
  promptName: string | null = null;
  adapter: string | null = null;
  model: string | null = null;
  evaluations = 0;
  turns = 0;
  calls = 0;
  failedCalls = 0;
  usage: TokenUsage = noUsage;
  usd: number | null = null;
  prompt: SessionSummary["prompt"] = null;
  input: string | null = null;
  answer: Answer | null = null;
  /** What all evaluations have sent; `null` if the session does not show it. */
  egress: { readonly requests: UnknownRecord[]; verdict: string } | null = null;
  readonly #tools = new Map<string, ToolCount>();
  readonly #unfinished = new UnfinishedWork();

  /** Counts an evaluation that is not nested. */
  beginEvaluation(): void {
    this.evaluations += 1;
    this.state = "open";
    this.answer = null;
    this.input = null;
    this.#unfinished.clear();
  }

  /** Notes the prompt and the adapter of an event. */
  addEvent(event: UnknownRecord): void {
    if (event["nested"] === true) return;
    this.promptName = readName(event, "promptName") || this.promptName;
    this.adapter = readName(event, "adapter") || this.adapter;
  }

  /** Adds the report of an evaluation. If one of them has left something at the provider, that is the verdict. */
  addEgress(report: UnknownRecord): void {
    this.egress ??= { requests: [], verdict: "" };
    const { egress } = this;
    const verdict = readString(report, "verdict").slice(0, MAX_VERDICT);
    if (egress.verdict === "" || verdict !== NOTHING_STORED) egress.verdict = verdict;
    const room = MAX_REQUESTS - egress.requests.length;
    egress.requests.push(...readRecords(report, "requests").slice(0, room));
  }

  /** Adds a completed turn. Of a nested one, only the tokens and the cost count. */
  addTurn(event: UnknownRecord): void {
    const work = { usage: readUsage(event), usd: readNumber(event, "costUsd") };
    this.#unfinished.addTurn(event, work);
    this.#addWork(work);
    if (event["nested"] === true) return;
    this.turns += 1;
    this.model = readName(event, "model") || this.model;
  }

  /** Adds the tokens and the cost that an evaluation's end reports in addition to its turns, such as a compaction. */
  addRest(event: UnknownRecord): void {
    const total = { usage: readUsage(event), usd: readNumber(event, "costUsd") };
    this.#addWork(this.#unfinished.takeRest(event, total));
  }

  /** Adds a call that has ended. */
  addCall({ name, isFailed, ms, place }: EndedCall): void {
    this.calls += 1;
    if (isFailed) this.failedCalls += 1;
    const known = this.#tools.get(name);
    if (!known && this.#tools.size === MAX_TOOLS) return;
    const before = known ?? { name, calls: 0, failed: 0, ms: 0 };
    this.#tools.set(name, {
      name,
      calls: before.calls + 1,
      failed: before.failed + (isFailed ? 1 : 0),
      ms: before.ms + (ms ?? 0),
      place,
    });
  }

  /** Notes the answer or the error that ended an evaluation. */
  end(event: UnknownRecord, citations: readonly UnknownRecord[]): void {
    const isError = readString(event, "type") === "PromptFailed";
    const text = isError
      ? `${readString(event, "errorName")}: ${readString(event, "message")}`
      : readString(event, "text");
    this.answer = { isError, text: text.slice(0, MAX_TEXT), citations };
    const isParked = readString(event, "errorName") === "EvaluationParkedError";
    this.state = isParked ? "parked" : isError ? "failed" : "done";
    this.model = readName(event, "model") || this.model;
  }

  /** Lists the tools by their number of calls. */
  listTools(): readonly ToolCount[] {
    return [...this.#tools.values()].sort((one, other) => other.calls - one.calls);
  }

  #addWork({ usage, usd }: Work): void {
    this.usage = addUsage(this.usage, usage);
    if (usd !== null) this.usd = (this.usd ?? 0) + usd;
  }
}

/** A call that has ended, in the words of the timeline. */
export interface EndedCall {
  readonly name: string;
  readonly isFailed: boolean;
  readonly ms: number | null;
  readonly place: string;
}

/** Reads a name that the summary shows. */
function readName(event: UnknownRecord, key: string): string {
  return toPreview(readString(event, key), MAX_NAME);
}

/** Reads an event's tokens. Missing and wrong numbers are 0. */
export function readUsage(event: UnknownRecord): TokenUsage {
  const usage = readRecord(event, "usage");
  const readTokens = (key: keyof TokenUsage) => Math.max(0, readNumber(usage, key) ?? 0);
  const [inputTokens, outputTokens] = [readTokens("inputTokens"), readTokens("outputTokens")];
  return toUsage({
    inputTokens,
    outputTokens,
    cachedTokens: readTokens("cachedTokens"),
    reasoningTokens: readTokens("reasoningTokens"),
    totalTokens: readTokens("totalTokens") || inputTokens + outputTokens,
  });
}

/** Finds the user's text in the items that a turn added to the conversation, in the format of any provider. */
export function findInput(added: readonly UnknownRecord[]): string | null {
  for (const item of added.slice(-50).reverse()) {
    const message = isPlainObject(item["message"]) ? item["message"] : item;
    if (readString(message, "role") !== "user") continue;
    const content = message["content"];
    if (typeof content === "string") return content.slice(0, MAX_TEXT);
    const texts = readRecords(message, "content").map((part) => readString(part, "text"));
    const text = texts.filter((one) => one !== "").join("\n");
    if (text !== "") return text.slice(0, MAX_TEXT);
  }
  return null;
}
