import type { Hono } from "hono";
import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { missingParameter, unknownParameter } from "../api-problem.ts";
import { jsonBody } from "../http/json-body.ts";
import { createRequestCheck } from "../responses/check/request.ts";
import { compacted } from "../responses/conversation/compaction.ts";
import type { Conversations } from "../responses/conversation/conversations.ts";
import { inputTokens } from "../responses/conversation/input-tokens.ts";
import { usageOf } from "../responses/usage.ts";
import type { TurnServices } from "../turn/turn.ts";
import { limits } from "./responses.ts";

export interface CompactionServices {
  readonly conversations: Conversations;
  readonly turns: TurnServices;
  readonly seconds: () => number;
  readonly maxBodyBytes: number;
}

/** `/v1/responses/compact` and `/v1/responses/input_tokens`: both read a conversation and run nothing. */
export function compactionRoutes(app: Hono, services: CompactionServices): void {
  const { conversations, turns, seconds, maxBodyBytes } = services;
  const checkRequest = createRequestCheck(turns.catalog);
  const read = async (request: Request, known: ReadonlySet<string>) => {
    const body = await jsonBody(request, maxBodyBytes);
    checkKeys(body, known);
    const checked = checkRequest(body);
    return { checked, conversation: conversations.of(checked) };
  };
  app.post("/v1/responses/compact", async (context) => {
    limits(context);
    const { checked, conversation } = await read(context.req.raw, compactKeys);
    const output = compacted(conversation.readable, turns);
    const tokens = inputTokens(checked, conversation);
    return context.json({
      id: turns.ids.next("resp_"),
      object: "response.compaction",
      created_at: seconds(),
      output: output.map((item) => withId(item, turns)),
      usage: usageOf(tokens, output),
    });
  });
  app.post("/v1/responses/input_tokens", async (context) => {
    const { checked, conversation } = await read(context.req.raw, countKeys);
    const input_tokens = inputTokens(checked, conversation);
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
  if (!isPlainObject(body)) return; // which is said by what reads it next
  const unknown = Object.keys(body).find((key) => !known.has(key));
  if (unknown !== undefined) throw unknownParameter(unknown);
  if (body["model"] === undefined) throw missingParameter("model");
}

function withId(item: WireItem, { ids }: TurnServices): WireItem {
  return item["id"] === undefined && item["type"] === "message"
    ? { id: ids.next("msg_"), status: "completed", ...item }
    : item;
}
