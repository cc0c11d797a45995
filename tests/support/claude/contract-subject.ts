import { usageOf } from "../../../src/base/usage.ts";
import { ClaudeAgentSDKAdapter } from "../../../src/claude/index.ts";
import type {
  ContractAnswer,
  ContractThrottle,
  ContractTurn,
  MakeSubject,
} from "../../../src/testing/contract/subject.ts";
import {
  type MessagesAnswer,
  messagesServer,
  type SeenMessages,
  say,
  use,
} from "./messages-server.ts";

/** The Claude adapter under contract: the real SDK, whose model plays the script on a real server. */
export const claudeSubject: MakeSubject = async (script, { clock, compactsOver }) => {
  const server = await messagesServer((request, number) => {
    const turn = script[number - 1];
    if (turn) return answerOf(turn, request);
    return { status: 403, type: "permission_error", message: "The script is over" };
  });
  const isolation = { apiKey: "contract", baseURL: server.url };
  return {
    adapter: new ClaudeAgentSDKAdapter({ isolation, clock, ...(compactsOver && { env: SHORT }) }),
    asked: () => server.requests.map(({ text }) => text),
    close: () => server.close(),
  };
};

/** Conversations are made shorter as early as the SDK does that. */
const SHORT = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" };

function answerOf(turn: ContractTurn, { text }: SeenMessages): MessagesAnswer {
  if ("stall" in turn) return turn;
  if ("throttle" in turn) return refusalOf(turn.throttle);
  return { content: contentOf(turn, text.includes('"StructuredOutput"')), ...usageFields(turn) };
}

function contentOf(
  { text, toolCalls = [], hostedCalls = [], code }: ContractAnswer,
  hasSchema: boolean,
) {
  const object = hasSchema ? parsed(text) : null;
  return [
    ...(code === undefined ? [] : [use("Bash", { command: python(`ROOT = "."\n${code}`) })]),
    ...(object ? [use("StructuredOutput", object)] : text === undefined ? [] : [say(text)]),
    ...hostedCalls.map(({ callId }) => use("WebSearch", { query: "owls" }, callId)),
    ...toolCalls.map(({ name, arguments: args = {}, callId }) =>
      use(`mcp__wink__${name}`, typeof args === "string" ? JSON.parse(args) : args, callId),
    ),
  ];
}

function python(code: string): string {
  return `python3 - <<'CONTRACT'\n${code}\nCONTRACT`;
}

function parsed(text: string | undefined): object | null {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null; // words, where JSON was asked for
  }
}

function usageFields({ usage: parts }: ContractAnswer): {
  readonly usage?: Record<string, unknown>;
} {
  if (!parts) return {};
  const usage = usageOf(parts);
  return {
    usage: {
      input_tokens: usage.inputTokens - usage.cachedTokens,
      cache_read_input_tokens: usage.cachedTokens,
      cache_creation_input_tokens: 0,
      output_tokens: usage.outputTokens,
      output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    },
  };
}

function refusalOf({ kind, retryAfterMs }: ContractThrottle["throttle"]): MessagesAnswer {
  const headers =
    retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  if (kind === "network") return { drop: true };
  return { ...refusals[kind], headers };
}

const refusals = {
  rate_limit: { status: 429, type: "rate_limit_error", message: "Too many requests." },
  quota_exhausted: {
    status: 400,
    type: "invalid_request_error",
    message: "Your credit balance is too low to access the Anthropic API.",
  },
  server: { status: 500, type: "api_error", message: "Internal server error" },
  timeout: { status: 408, type: "timeout_error", message: "The request took too long." },
};
