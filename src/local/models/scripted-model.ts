import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { copyAndFreeze } from "../../base/freeze.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { checkActions } from "./check-actions.ts";
import type { LocalModel, ModelRequest } from "./local-model.ts";
import { trustModel } from "./trusted-models.ts";

/** The script of a model: one array of actions per turn, or a function that returns the actions for a request. */
export type ModelScript =
  | readonly (readonly ModelAction[])[]
  | ((request: ModelRequest) => readonly ModelAction[] | Promise<readonly ModelAction[]>);

/**
 * Creates a model that performs a script, in order. Arrays are validated and copied now; the actions that a
 * function returns are validated on each call. A step that the request does not allow (a tool that it does not
 * offer, or text where it forces a call) fails the request, and so does a request after the last step. Clients
 * do not retry these errors, and the step is not used up.
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
    return trustModel(
      Object.freeze({
        respond: async (request: ModelRequest) => await callScript(steps, request),
      }),
    );
  }
  if (!Array.isArray(steps)) {
    throw new InvalidOptionError({
      field: "steps",
      value: steps,
      rule: "must be an array of turns or a function of the request",
      remedy: 'use [[{ say: "Hello." }]], with one inner array per turn',
    });
  }
  const script = steps.map((step, turn) => copyActions(step, `steps[${turn}]`));
  return trustModel(
    Object.freeze({
      respond: async (request: ModelRequest) =>
        script[request.turn] ?? throwScriptEnded(script.length, request),
    }),
  );
}

function copyActions(actions: unknown, field: string): readonly ModelAction[] {
  checkActions(actions, field);
  return copyAndFreeze(actions);
}

async function callScript(
  script: Extract<ModelScript, (...args: never) => unknown>,
  request: ModelRequest,
): Promise<readonly ModelAction[]> {
  let actions: unknown;
  try {
    actions = await script(request);
  } catch (cause) {
    const message = getErrorMessage(cause).slice(0, MAX_MESSAGE_LENGTH);
    throw new StepFault(`the script threw an error: ${message}`, { cause });
  }
  try {
    return copyActions(actions, "steps(request)");
  } catch (error) {
    throw new StepFault(getErrorMessage(error));
  }
}

const MAX_MESSAGE_LENGTH = 2_000;

/** Throws the error for a request after the last step. */
function throwScriptEnded(length: number, { turn, text }: ModelRequest): never {
  const steps = length === 1 ? "1 step" : `${length} steps`;
  const message = `The script has ended: it has ${steps}, but this is request ${turn + 1}, with the text ${quoteValue(text)}. Add a step.`;
  throw new StepFault(message, { code: "script_ended" });
}
