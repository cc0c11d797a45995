import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { createMissingParameterProblem, unknownParameter } from "../api-problem.ts";
import { checkQuery } from "../http/check-query.ts";
import { setRateLimitHeaders } from "../http/rate-limit-headers.ts";
import { readJsonBody } from "../http/read-json-body.ts";
import type { RouteRequest } from "../http/route-request.ts";
import type { RouteTable } from "../http/route-table.ts";
import { createRequestCheck } from "../responses/check/request.ts";
import { compactItems } from "../responses/conversation/compaction.ts";
import type { Conversations } from "../responses/conversation/conversations.ts";
import { countInputTokens } from "../responses/conversation/count-input-tokens.ts";
import { createUsage } from "../responses/usage.ts";
import type { TurnServices } from "../turn/turn.ts";

/** Services of the compaction routes. */
export interface CompactionServices {
  readonly conversations: Conversations;
  readonly turns: TurnServices;
  readonly seconds: () => number;
  /** Returns the current time in seconds since 1970. */
  readonly maxBodyBytes: number;
}

/** `/v1/responses/compact` and `/v1/responses/input_tokens`. Both read a conversation and run no turn. */
export function compactionRoutes(routes: RouteTable, services: CompactionServices): void {
  const { conversations, turns, seconds, maxBodyBytes } = services;
  const checkRequest = createRequestCheck(turns.catalog);
  const readConversation = async (request: RouteRequest, known: ReadonlySet<string>) => {
    checkQuery(request);
    const body = await readJsonBody(request.raw, maxBodyBytes);
    checkKeys(body, known);
    const checked = checkRequest(body);
    return { checked, conversation: conversations.createConversation(checked) };
  };
  routes.post("/v1/responses/compact", async (context) => {
    setRateLimitHeaders(context);
    const { checked, conversation } = await readConversation(context.req, compactKeys);
    const output = compactItems(conversation.readable, turns);
    const tokens = countInputTokens(checked, conversation);
    return context.json({
      id: turns.ids.next("resp_"),
      object: "response.compaction",
      created_at: seconds(),
      output: output.map((item) => addMessageId(item, turns)),
      usage: createUsage(tokens, output),
    });
  });
  routes.post("/v1/responses/input_tokens", async (context) => {
    const { checked, conversation } = await readConversation(context.req, countKeys);
    const input_tokens = countInputTokens(checked, conversation);
    return context.json({ object: "response.input_tokens", input_tokens });
  });
}

const compactKeys: ReadonlySet<string> = new Set([
  "model",
  "input",
  "previous_response_id",
  "instructions",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "service_tier",
]);

const countKeys: ReadonlySet<string> = new Set([
  "model",
  "input",
  "previous_response_id",
  "conversation",
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "truncation",
]);

function checkKeys(body: unknown, known: ReadonlySet<string>): void {
  if (!isPlainObject(body)) return; // the request check reports it
  const unknown = Object.keys(body).find((key) => !known.has(key));
  if (unknown !== undefined) throw unknownParameter(unknown);
  if (body["model"] === undefined) throw createMissingParameterProblem("model");
}

function addMessageId(item: WireItem, { ids }: TurnServices): WireItem {
  return item["id"] === undefined && item["type"] === "message"
    ? { id: ids.next("msg_"), status: "completed", ...item }
    : item;
}
