import type { HostedCall, ToolCall, Turn } from "../adapter/model-client.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { type TokenUsage, toUsage } from "../base/usage.ts";

/** A scripted turn. Omitted members are empty. */
export interface ScriptedTurn extends Partial<Omit<Turn, "toolCalls" | "hostedCalls" | "usage">> {
  /** Calls to local tools. */
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
  /** Calls that the provider ran. */
  readonly hostedCalls?: readonly ScriptedHostedCall[] | undefined;
  /**
   * Pieces in which the text arrives in a stream. A step that is a function can also report parts
   * itself, with `request.observer`. @default the whole text at once
   */
  readonly deltas?: readonly string[] | undefined;
  /** Token usage of the turn. Omitted counts are 0; `totalTokens` defaults to input plus output. */
  readonly usage?: Partial<TokenUsage> | undefined;
}

/** A tool call of the scripted model. */
export interface ScriptedToolCall {
  /** Name of the tool. */
  readonly name: string;
  /** Id of the call. @default "call_1_1": numbers of the turn and of the call within it */
  readonly callId?: string | undefined;
  /** Arguments as JSON text, or as an object. @default {} */
  readonly arguments?: string | object | undefined;
}

/** A call that the scripted provider ran. Only the name is required. */
export interface ScriptedHostedCall extends Partial<Omit<HostedCall, "name">> {
  /** Name of the tool. */
  readonly name: string;
}

const turnKeys: KnownKeys<ScriptedTurn> = {
  citations: true,
  compactionChanges: true,
  containerIds: true,
  containerTier: true,
  continues: true,
  costUsd: true,
  delegatedCalls: true,
  deltas: true,
  finishReason: true,
  history: true,
  hostedCalls: true,
  model: true,
  requestId: true,
  responseId: true,
  stopReason: true,
  text: true,
  toolCalls: true,
  usage: true,
  workspace: true,
};

const toolCallKeys: KnownKeys<ScriptedToolCall> = { arguments: true, callId: true, name: true };

const hostedCallKeys: KnownKeys<ScriptedHostedCall> = {
  callId: true,
  containerId: true,
  kind: true,
  message: true,
  name: true,
  output: true,
  params: true,
  raw: true,
  success: true,
};

/** Returns a scripted turn if it and its calls have only known keys. */
export function checkTurn(turn: ScriptedTurn, field: string): ScriptedTurn {
  checkKnownKeys(turn, field, turnKeys);
  for (const [index, call] of (turn.toolCalls ?? []).entries())
    checkKnownKeys(call, `${field}.toolCalls[${index}]`, toolCallKeys);
  for (const [index, call] of (turn.hostedCalls ?? []).entries())
    checkKnownKeys(call, `${field}.hostedCalls[${index}]`, hostedCallKeys);
  checkDeltas(turn, field);
  return turn;
}

function checkDeltas({ text, deltas }: ScriptedTurn, field: string): void {
  if (deltas === undefined || text === undefined || deltas.join("") === text) return;
  throw new InvalidOptionError({
    field: `${field}.deltas`,
    value: deltas,
    rule: "must be the pieces of `text`",
    remedy: "omit `text`, which is then made of the pieces",
  });
}

/** Completes a scripted turn. `number` makes the ids of its calls unique. */
export function completeTurn({ deltas, ...turn }: ScriptedTurn, number: number): Turn {
  const toolCalls = (turn.toolCalls ?? []).map((call, index) =>
    completeToolCall(call, `${number}_${index + 1}`),
  );
  const hostedCalls = (turn.hostedCalls ?? []).map((call, index) =>
    completeHostedCall(call, `${number}_${index + 1}`),
  );
  return Object.freeze({
    text: deltas?.join("") ?? "",
    citations: [],
    finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
    responseId: `response_${number}`,
    requestId: `request_${number}`,
    model: "scripted",
    ...turn,
    toolCalls: Object.freeze(toolCalls),
    hostedCalls: Object.freeze(hostedCalls),
    usage: toUsage(turn.usage ?? {}),
  });
}

function completeToolCall(
  { name, callId, arguments: args = {} }: ScriptedToolCall,
  id: string,
): ToolCall {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return Object.freeze({ name, callId: callId ?? `call_${id}`, arguments: text });
}

function completeHostedCall({ name, ...call }: ScriptedHostedCall, id: string): HostedCall {
  const { callId = `hosted_${id}`, params = {}, output = null, success = true } = call;
  const { kind = name, message = success ? "OK" : "The provider's tool failed", raw } = call;
  const known = { name, kind, callId, params, output, success, message };
  return Object.freeze({
    ...known,
    ...(call.containerId === undefined ? {} : { containerId: call.containerId }),
    raw: raw ?? { type: `${kind}_call`, id: callId },
  });
}
