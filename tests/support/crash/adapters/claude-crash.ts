import { readRecords, readString, type UnknownRecord } from "../../../../src/base/json.ts";
import { ClaudeAgentSDKAdapter } from "../../../../src/claude/index.ts";
import {
  type MessagesAnswer,
  type ReceivedRequest,
  startMessagesServer,
  toolUse,
} from "../../claude/messages-server.ts";
import type { CrashChild } from "../crash-child.ts";
import { type CrashSubject, createCrashPrompt } from "../crash-subject.ts";
import { crashTurns } from "../crash-turns.ts";

/** The real Claude Agent SDK, on a server of this process that goes by the results in each request. */
export async function createCrashSubject(child: CrashChild): Promise<CrashSubject> {
  const server = await startMessagesServer(async ({ body }: ReceivedRequest) => {
    const results = listResults(body);
    const turn = countTurns(results);
    const answers = listCalls(turn - 1).map(({ callId }) => results.get(callId) ?? "");
    child.ledger.add({ what: "request", turn, answers });
    await child.reach("request");
    return toAnswer(turn);
  });
  const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: "key", baseURL: server.url } });
  return { adapter, prompt: createCrashPrompt(child), close: () => server.close() };
}

const listCalls = (turn: number) => {
  const planned = crashTurns[turn - 1];
  return planned && "calls" in planned ? planned.calls : [];
};

/** Returns the texts of the results in a request, by the ids of their calls. */
function listResults(body: UnknownRecord): ReadonlyMap<string, string> {
  const blocks = readRecords(body, "messages")
    .flatMap((message) => readRecords(message, "content"))
    .filter(({ type }) => type === "tool_result");
  return new Map(blocks.map((block) => [readString(block, "tool_use_id"), readText(block)]));
}

function readText(block: UnknownRecord): string {
  const { content } = block;
  if (typeof content === "string") return content;
  return readRecords(block, "content")
    .map((part) => readString(part, "text"))
    .join("");
}

/** Returns the number of the next turn: the first one whose calls have no results. */
function countTurns(results: ReadonlyMap<string, string>): number {
  const isAnswered = (turn: number) => listCalls(turn).every(({ callId }) => results.has(callId));
  let turn = 1;
  while (listCalls(turn).length > 0 && isAnswered(turn)) turn += 1;
  return turn;
}

function toAnswer(turn: number): MessagesAnswer {
  const planned = crashTurns[turn - 1];
  if (!planned) throw new Error(`There is no turn ${turn}.`);
  const usage = { input_tokens: 10 * turn, output_tokens: turn };
  const id = `turn_${turn}`;
  const content =
    "text" in planned
      ? [toolUse("StructuredOutput", JSON.parse(planned.text))]
      : planned.calls.map(({ name, callId }) => toolUse(`mcp__wink__${name}`, {}, callId));
  return { content, usage, id };
}
