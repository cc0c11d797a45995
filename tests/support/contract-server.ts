import type { ProviderAdapter } from "../../src/adapter/provider-adapter.ts";
import type { Clock } from "../../src/base/clock.ts";
import { type TokenUsage, toUsage } from "../../src/base/usage.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import type {
  ContractAnswer,
  ContractThrottle,
  ContractTurn,
  MakeSubject,
} from "../../src/testing/contract/subject.ts";
import {
  functionCall,
  message,
  type RouteAnswer,
  type SeenRequest,
  startWireServer,
  type WireAnswer,
  webSearchCall,
} from "./wire-server.ts";

/**
 * An OpenAI adapter as a contract subject: its model plays the script behind a real server. `make`
 * creates the adapter for the server's URL.
 *
 * @example
 * const make = openaiSubject((baseURL, clock) => new OpenAIAdapter({ clientConfig: { baseURL },
 * clock }));
 * for (const { name, run } of adapterContract(make)) test(name, run);
 */
export function openaiSubject(make: (url: string, clock: Clock) => ProviderAdapter): MakeSubject {
  return async (script, { clock }) => {
    const server = await startWireServer(script.map(toAnswer), { leftOver: "allowed" });
    return {
      adapter: make(server.url, clock),
      asked: () => server.requests.filter(isTurn).map(({ text }) => text),
      close: () => server.close(),
    };
  };
}

function isTurn({ method, path }: SeenRequest): boolean {
  return method === "POST" && path === "/responses";
}

function toAnswer(turn: ContractTurn): WireAnswer {
  if ("stall" in turn) return turn;
  return "throttle" in turn ? toThrottleAnswer(turn.throttle) : toResponse(turn);
}

function toResponse({ text, toolCalls = [], hostedCalls = [], usage }: ContractAnswer) {
  const output: WireItem[] = [
    ...hostedCalls.map(({ callId }) =>
      callId === undefined ? webSearchCall() : { ...webSearchCall(), id: callId },
    ),
    ...(text === undefined ? [] : [message(text)]),
    ...toolCalls.map(({ name, arguments: args = {}, callId }) => functionCall(name, args, callId)),
  ];
  return usage ? { output, usage: wireUsage(usage) } : { output };
}

/** Converts usage to OpenAI's wire format. */
export function wireUsage(parts: Partial<TokenUsage>): WireItem {
  const usage = toUsage(parts);
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.totalTokens,
  };
}

function toThrottleAnswer({ kind, retryAfterMs }: ContractThrottle["throttle"]): RouteAnswer {
  if (kind === "network") return { raw: ({ socket }) => socket.destroy() };
  const headers = retryAfterMs === undefined ? {} : createRetryHeaders(retryAfterMs);
  return { ...refusals[kind], headers };
}

const refusals = {
  rate_limit: {
    status: 429,
    error: { message: "Rate limit reached.", type: "requests", code: "rate_limit_exceeded" },
  },
  quota_exhausted: {
    status: 429,
    error: {
      message: "You exceeded your current quota, please check your plan and billing details.",
      type: "insufficient_quota",
      code: "insufficient_quota",
    },
  },
  server: { status: 500, error: { message: "The server had an error.", type: "server_error" } },
  timeout: { status: 408, error: { message: "The request took too long." } },
};

/** Whole seconds, as OpenAI sends them, and the exact milliseconds. */
function createRetryHeaders(milliseconds: number): Readonly<Record<string, string>> {
  return {
    "retry-after": String(Math.ceil(milliseconds / 1000)),
    "retry-after-ms": String(milliseconds),
  };
}
