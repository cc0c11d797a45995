import { isPlainObject } from "../../../base/freeze.ts";
import { quoteNames, quoteValue } from "../../../base/quote-value.ts";
import type { Validation } from "../../../base/schema/validation.ts";
import type { ModelAction } from "../../model-action.ts";
import { parseBoundedJson } from "../../parse-bounded-json.ts";
import { isClientTool, toAction } from "../../tools/tool-catalog.ts";
import { toArgumentsText } from "./chat-calls.ts";
import type { ChatFunction, HostedFunction } from "./chat-function.ts";
import type { ChatFunctions } from "./chat-functions.ts";
import type { ChatTurn } from "./chat-turns.ts";
import type { UpstreamAnswer, UpstreamCall } from "./upstream-answer.ts";

/** The arguments of a call, parsed. */
type Args = Readonly<Record<string, unknown>>;

/** The actions of an answer, or its problem and a turn that reports the problem to the model. */
export type ParsedAnswer =
  | { readonly ok: true; readonly actions: readonly ModelAction[] }
  | { readonly ok: false; readonly problem: string; readonly correction: ChatTurn };

/**
 * Converts an answer to actions. Calls of hosted functions become actions; calls of the client's functions stay
 * calls.
 */
export function toUpstreamActions(
  answer: UpstreamAnswer,
  functions: ChatFunctions,
  allowsCommentary = false,
): ParsedAnswer {
  const calls = answer.calls.map((call) => toCallAction(call, functions));
  const [problem] = calls.flatMap((call) => (call.ok ? [] : [call.problem]));
  if (problem !== undefined) {
    return { ok: false, problem, correction: createCorrection(answer, calls) };
  }
  const actions = calls.flatMap((call) => (call.ok ? [call.value] : []));
  return {
    ok: true,
    actions: [...toTextActions(answer, actions, { functions, allowsCommentary }), ...actions],
  };
}

/**
 * Converts the text of an answer. Text before a hosted tool call becomes commentary, because an answer ends the turn.
 * If the client has a schema for the answer, it becomes a thought.
 */
function toTextActions(
  { thought, text, refusal, calls }: UpstreamAnswer,
  actions: readonly ModelAction[],
  options: { readonly functions: ChatFunctions; readonly allowsCommentary: boolean },
): readonly ModelAction[] {
  const { functions, allowsCommentary } = options;
  const { all } = functions;
  const continues = calls.some((call) => {
    const { hosted = null } = all.find(({ name }) => name === call.name) ?? {};
    return hosted !== null && !isClientTool(hosted.tool);
  });
  if (continues) {
    const isCommentary = allowsCommentary && text !== "";
    return [
      ...toThoughts(thought),
      ...(isCommentary ? [{ say: text, phase: "commentary" } as const] : toThoughts(text)),
      ...toThoughts(refusal),
    ];
  }
  return [
    ...toThoughts(thought),
    ...(text === "" && (refusal !== "" || actions.length > 0) ? [] : [{ say: text }]),
    ...(refusal === "" ? [] : [{ refuse: refusal }]),
  ];
}

function toThoughts(text: string): readonly ModelAction[] {
  return text === "" ? [] : [{ think: text }];
}

function toCallAction(
  { name, args }: UpstreamCall,
  { all }: ChatFunctions,
): Validation<ModelAction> {
  const called = all.find((one) => one.name === name);
  if (!called) {
    const known =
      all.length === 0
        ? "no functions are available"
        : `the functions are ${quoteNames(all.map((one) => one.name))}`;
    return { ok: false, problem: `the function ${quoteValue(name)} does not exist; ${known}` };
  }
  if (!called.hosted && !called.isCustom)
    return { ok: true, value: { call: { name, args: toRawArguments(args) } } };
  const read = parseArguments(args);
  if (!read.ok) return { ok: false, problem: describeBadArguments(called, read.problem) };
  const action = called.hosted
    ? toHostedAction(called.hosted, read.value)
    : toCustomCall(name, read.value);
  return action
    ? { ok: true, value: action }
    : { ok: false, problem: describeBadArguments(called, `they are ${quoteValue(read.value)}`) };
}

function toHostedAction({ tool, read }: HostedFunction, args: Args): ModelAction | null {
  const fitting = read(args);
  return fitting && toAction(tool, fitting);
}

/** Calls a custom tool, whose input is plain text. */
function toCustomCall(name: string, { input }: Args): ModelAction | null {
  return typeof input === "string" ? { call: { name, args: input } } : null;
}

/** Returns the arguments unchanged. The client decides how its function handles invalid JSON. */
function toRawArguments(args: unknown): object | string {
  if (isPlainObject(args)) return args;
  return args === undefined || args === null || args === "" ? {} : String(args);
}

function parseArguments(args: unknown): Validation<Args> {
  const rawArgs = toRawArguments(args);
  if (typeof rawArgs !== "string") return { ok: true, value: { ...rawArgs } };
  const parsed = parseBoundedJson(rawArgs);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  return isPlainObject(value)
    ? { ok: true, value }
    : { ok: false, problem: `they are ${quoteValue(value)}` };
}

function describeBadArguments({ name, parameters }: ChatFunction, problem: string): string {
  const schema = JSON.stringify(parameters);
  return `the arguments of ${name} are not a JSON object that matches ${schema}: ${problem}`;
}

/** Repeats the answer, with an error message as the result of each call. */
function createCorrection(
  { text, calls }: UpstreamAnswer,
  read: readonly Validation<ModelAction>[],
): ChatTurn {
  return {
    role: "assistant",
    text,
    calls: calls.map(({ name, args }, place) => {
      const verdict = read[place];
      const result =
        verdict && !verdict.ok
          ? `This call was not made: ${verdict.problem}. Correct it and call again.`
          : "This call was not made, because another call in the same answer was invalid. Call again.";
      const id = `call_refused_${place}`;
      return { id, name, args: toArgumentsText(args), result: [{ text: result }] };
    }),
  };
}
