import { InvalidOptionError } from "../../base/errors.ts";
import { show } from "../../base/show.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";
import type { LocalModel, ModelRequest } from "./local-model.ts";
import { checkedActions } from "./model-action-check.ts";

/** What a scripted model does: one inner list a turn, or what makes that list from the request. */
export type ModelScript =
  | readonly (readonly ModelAction[])[]
  | ((request: ModelRequest) => readonly ModelAction[] | Promise<readonly ModelAction[]>);

/**
 * A model that does what its script says, in order. Steps are checked and copied here; what a
 * function gives is checked when it comes. Where the script has ended, the request fails and says so.
 *
 * @example
 * scriptedModel([[{ code: "print(6 * 7)" }], [{ say: "It is 42." }]]);
 */
export function scriptedModel(steps: ModelScript): LocalModel {
  if (typeof steps === "function") {
    return Object.freeze({
      respond: async (request: ModelRequest) =>
        checkedActions(await steps(request), "steps(request)"),
    });
  }
  if (!Array.isArray(steps)) {
    throw new InvalidOptionError({
      field: "steps",
      value: steps,
      rule: "must be a list of turns, or a function of the request",
      remedy: 'write [[{ say: "Hello." }]]: one inner list a turn',
    });
  }
  const script = steps.map((step, turn) => checkedActions(step, `steps[${turn}]`));
  return Object.freeze({
    respond: async (request: ModelRequest) => script[request.turn] ?? ended(script.length, request),
  });
}

/** Retrying does not help, and clients are told so. */
function ended(length: number, { turn, text }: ModelRequest): never {
  const steps = length === 1 ? "1 step" : `${length} steps`;
  const message = `The script has ended: it has ${steps}, and none for request ${turn + 1}, which was asked ${show(text)}.`;
  const headers = { "x-should-retry": "false" };
  throw new ApiProblem(500, message, { code: "script_ended", headers });
}
