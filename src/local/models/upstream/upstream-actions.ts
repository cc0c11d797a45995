import { isPlainObject } from "../../../base/freeze.ts";
import { parseJson } from "../../../base/json.ts";
import { list, show } from "../../../base/show.ts";
import type { Validation } from "../../../base/validation.ts";
import type { ModelAction } from "../../model-action.ts";
import { isHandedOver, toAction } from "../../tools/tool-catalog.ts";
import type { OfferedFunction, OfferedFunctions } from "./offered-functions.ts";
import { argumentsText } from "./past-calls.ts";
import type { SpokenTurn } from "./spoken-history.ts";
import type { UpstreamAnswer, UpstreamCall } from "./upstream-wire.ts";

/** What an answer comes to, or what is wrong with it and the turn that tells the model so. */
export type Understood =
  | { readonly ok: true; readonly actions: readonly ModelAction[] }
  | { readonly ok: false; readonly problem: string; readonly correction: SpokenTurn };

/** An answer as actions: hosted functions become what they stand for, the client's stay calls. */
export function understood(answer: UpstreamAnswer, offered: OfferedFunctions): Understood {
  const calls = answer.calls.map((call) => actionOf(call, offered));
  const [problem] = calls.flatMap((call) => (call.ok ? [] : [call.problem]));
  if (problem !== undefined) {
    return { ok: false, problem, correction: correctionOf(answer, calls) };
  }
  const actions = calls.flatMap((call) => (call.ok ? [call.value] : []));
  return { ok: true, actions: [...saidBefore(answer, actions, offered), ...actions] };
}

/** What is said ends a turn; what is said on the way to a hosted tool is a thought. */
function saidBefore(
  { thought, text, refusal, calls }: UpstreamAnswer,
  actions: readonly ModelAction[],
  { all }: OfferedFunctions,
): readonly ModelAction[] {
  const goesOn = calls.some((call) => {
    const { hosted = null } = all.find(({ name }) => name === call.name) ?? {};
    return hosted !== null && !isHandedOver(hosted.tool);
  });
  const thoughts = goesOn ? [thought, text, refusal] : [thought];
  const said: readonly ModelAction[] = [
    ...(refusal === "" ? [] : [{ refuse: refusal }]),
    ...(text === "" && (refusal !== "" || actions.length > 0) ? [] : [{ say: text }]),
  ];
  return [
    ...thoughts.filter((one) => one !== "").map((think) => ({ think })),
    ...(goesOn ? [] : said),
  ];
}

function actionOf(
  { name, args }: UpstreamCall,
  { all }: OfferedFunctions,
): Validation<ModelAction> {
  const called = all.find((one) => one.name === name);
  if (!called) {
    const known =
      all.length === 0 ? "there is none" : `there are ${list(all.map((one) => one.name))}`;
    return { ok: false, problem: `there is no function ${show(name)}: ${known}` };
  }
  if (!called.hosted) return { ok: true, value: { call: { name, args: asWritten(args) } } };
  const read = argumentsOf(args);
  if (!read.ok) return { ok: false, problem: badArguments(called, read.problem) };
  const { hosted } = called;
  const fitting = hosted.read(read.value);
  return fitting
    ? { ok: true, value: toAction(hosted.tool, fitting) }
    : { ok: false, problem: badArguments(called, `they are ${show(read.value)}`) };
}

/** Word for word: what the client's function makes of it, JSON or not, is the client's to say. */
function asWritten(args: unknown): object | string {
  if (isPlainObject(args)) return args;
  return args === undefined || args === null || args === "" ? {} : String(args);
}

function argumentsOf(args: unknown): Validation<Readonly<Record<string, unknown>>> {
  const written = asWritten(args);
  if (typeof written !== "string") return { ok: true, value: { ...written } };
  const parsed = parseJson(written);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  return isPlainObject(value)
    ? { ok: true, value }
    : { ok: false, problem: `they are ${show(value)}` };
}

function badArguments({ name, parameters }: OfferedFunction, problem: string): string {
  const schema = JSON.stringify(parameters);
  return `the arguments of ${name} are not a JSON object that fits ${schema}: ${problem}`;
}

/** The answer again, with what is wrong with each of its calls for a result. */
function correctionOf(
  { text, calls }: UpstreamAnswer,
  read: readonly Validation<ModelAction>[],
): SpokenTurn {
  return {
    role: "assistant",
    text,
    calls: calls.map(({ name, args }, place) => {
      const verdict = read[place];
      const result =
        verdict && !verdict.ok
          ? `This call was not made: ${verdict.problem}. Call again, and mend that.`
          : "This call was not made, because another one beside it was wrong. Call again.";
      const id = `call_refused_${place}`;
      return { id, name, args: argumentsText(args), result: [{ text: result }] };
    }),
  };
}
