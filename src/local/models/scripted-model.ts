import { InvalidOptionError } from "../../base/errors.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";
import { checkActions } from "./check-actions.ts";
import type { LocalModel, ModelRequest } from "./local-model.ts";

/** The script of a model: one array of actions per turn, or a function that returns the actions for a request. */
export type ModelScript =
  | readonly (readonly ModelAction[])[]
  | ((request: ModelRequest) => readonly ModelAction[] | Promise<readonly ModelAction[]>);

/**
 * Creates a model that performs a script, in order. Arrays are validated and copied now; the actions that a
 * function returns are validated on each call. After the last step, requests fail with an error
 * (`script_ended`).
 *
 * @example
 * ```ts
 * import { LocalProvider, scriptedModel } from "weakincentives/local";
 *
 * const model = scriptedModel([[{ code: "print(6 * 7)" }], [{ say: "It is 42." }]]);
 * const provider = new LocalProvider({ model });
 * ```
 */
export function scriptedModel(steps: ModelScript): LocalModel {
  if (typeof steps === "function") {
    return Object.freeze({
      respond: async (request: ModelRequest) =>
        checkActions(await steps(request), "steps(request)"),
    });
  }
  if (!Array.isArray(steps)) {
    throw new InvalidOptionError({
      field: "steps",
      value: steps,
      rule: "must be an array of turns or a function of the request",
      remedy: 'use [[{ say: "Hello." }]], with one inner array per turn',
    });
  }
  const script = steps.map((step, turn) => checkActions(step, `steps[${turn}]`));
  return Object.freeze({
    respond: async (request: ModelRequest) =>
      script[request.turn] ?? throwScriptEnded(script.length, request),
  });
}

/** Throws the error for a request after the last step. Clients must not retry it. */
function throwScriptEnded(length: number, { turn, text }: ModelRequest): never {
  const steps = length === 1 ? "1 step" : `${length} steps`;
  const message = `The script has ended: it has ${steps}, but this is request ${turn + 1}, with the text ${quoteValue(text)}. Add a step.`;
  const headers = { "x-should-retry": "false" };
  throw new ApiProblem(500, message, { code: "script_ended", headers });
}
