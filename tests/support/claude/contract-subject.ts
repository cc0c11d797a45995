import { toUsage } from "../../../src/base/usage.ts";
import { ClaudeAgentSDKAdapter } from "../../../src/claude/index.ts";
import type {
  ContractAnswer,
  ContractThrottle,
  ContractTurn,
  MakeSubject,
} from "../../../src/testing/contract/subject.ts";
import {
  type MessagesAnswer,
  type ReceivedRequest,
  startMessagesServer,
  textBlock,
  toolUse,
} from "./messages-server.ts";

/** The Claude adapter for contract tests: the real SDK, with a scripted model on a real server. */
export const claudeSubject: MakeSubject = async (script, { clock, compactsOver }) => {
  const server = await startMessagesServer((request, number) => {
    const turn = script[number - 1];
    if (turn) return toAnswer(turn, request);
    return { status: 403, type: "permission_error", message: "The script has ended" };
  });
  const isolation = { apiKey: "contract", baseURL: server.url };
  return {
    adapter: new ClaudeAgentSDKAdapter({
      isolation,
      clock,
      ...(compactsOver && { env: EARLY_COMPACTION }),
    }),
    asked: () => server.requests.map(putSystemFirst),
    close: () => server.close(),
  };
};

/** The model reads the system prompt first. The SDK's requests have it after the messages. */
function putSystemFirst({ text }: ReceivedRequest): string {
  const { system, ...rest } = JSON.parse(text);
  return JSON.stringify({ system, ...rest });
}

/** Makes the SDK compact conversations as early as it can. */
const EARLY_COMPACTION = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" };

function toAnswer(turn: ContractTurn, { text }: ReceivedRequest): MessagesAnswer {
  if ("stall" in turn) return turn;
  if ("throttle" in turn) return toErrorAnswer(turn.throttle);
  return { content: toContent(turn, text.includes('"StructuredOutput"')), ...toUsageFields(turn) };
}

function toContent(
  { text, toolCalls = [], hostedCalls = [], code }: ContractAnswer,
  hasSchema: boolean,
) {
  const object = hasSchema ? parseObject(text) : null;
  return [
    ...(code === undefined
      ? []
      : [toolUse("Bash", { command: toPythonCommand(`ROOT = "."\n${code}`) })]),
    ...(object
      ? [toolUse("StructuredOutput", object)]
      : text === undefined
        ? []
        : [textBlock(text)]),
    ...hostedCalls.map(({ callId }) => toolUse("WebSearch", { query: "owls" }, callId)),
    ...toolCalls.map(({ name, arguments: args = {}, callId }) =>
      toolUse(`mcp__wink__${name}`, typeof args === "string" ? JSON.parse(args) : args, callId),
    ),
  ];
}

function toPythonCommand(code: string): string {
  return `python3 - <<'CONTRACT'\n${code}\nCONTRACT`;
}

function parseObject(text: string | undefined): object | null {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null; // the script answers with text instead of JSON
  }
}

function toUsageFields({ usage: parts }: ContractAnswer): {
  readonly usage?: Record<string, unknown>;
} {
  if (!parts) return {};
  const usage = toUsage(parts);
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

function toErrorAnswer({ kind, retryAfterMs }: ContractThrottle["throttle"]): MessagesAnswer {
  const headers =
    retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  if (kind === "network") return { drop: true };
  return { ...errorAnswers[kind], headers };
}

const errorAnswers = {
  rate_limit: { status: 429, type: "rate_limit_error", message: "Too many requests." },
  quota_exhausted: {
    status: 400,
    type: "invalid_request_error",
    message: "Your credit balance is too low to access the Anthropic API.",
  },
  server: { status: 500, type: "api_error", message: "Internal server error" },
  timeout: { status: 408, type: "timeout_error", message: "The request took too long." },
};
