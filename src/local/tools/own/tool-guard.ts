import { getErrorMessage } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { findJsonProblem } from "../../../base/json.ts";
import { quoteValue } from "../../../base/quote-value.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import { StepFault } from "../../step-fault.ts";
import type { Validator } from "../../validators/validator.ts";
import type { LocalToolCheck, LocalToolEvents, LocalToolPastCall } from "../local-tool.ts";

const MAX_MESSAGE = 2_000;

/** Calls the functions of a custom tool. If one throws or returns an invalid value, the error names the tool. */
export class ToolGuard {
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  /** Creates the error for a function of the tool. `field` is the function's place in the tool. */
  fail(field: string, problem: string): StepFault {
    const message = `Tool '${this.#kind}' failed in ${field}: ${problem.slice(0, MAX_MESSAGE)}`;
    return new StepFault(message, { code: "tool_error" });
  }

  /** Calls one function. Errors of the server itself, for example about a lost container, pass through unchanged. */
  call<Result>(field: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw error instanceof ApiProblem ? error : this.fail(field, getErrorMessage(error));
    }
  }

  /** Returns the validator that applies `first` and then the tool's own check. */
  toShape(field: string, check: LocalToolCheck | undefined, first: Validator): Validator {
    if (!check) return first;
    return (value, path) => {
      const problem = first(value, path) ?? this.call(field, () => check(value, path)) ?? null;
      if (problem === null || problem instanceof ApiProblem) return problem;
      if (typeof problem !== "string" && !(problem instanceof Error))
        return this.fail(
          field,
          `it must return a string, an error or null, got ${quoteValue(problem)}`,
        );
      const message = typeof problem === "string" ? problem : problem.message;
      return new ApiProblem(400, message, { param: path, code: "invalid_value" });
    };
  }

  /** Calls a function that returns an item or another object for the wire. */
  toItem(field: string, work: () => unknown): WireItem {
    const item = this.call(field, work);
    const problem = isPlainObject(item) ? findJsonProblem(item) : `it is ${quoteValue(item)}`;
    if (isPlainObject(item) && problem === null) return item;
    throw this.fail(field, `it must return an object that JSON can express: ${problem}`);
  }

  /** Calls a function that returns the events of an item. */
  toEvents(field: string, work: () => LocalToolEvents): LocalToolEvents {
    const { added, running, finished } = this.call(field, () => {
      const events = work();
      return { ...events, running: [...events.running], finished: [...events.finished] };
    });
    this.toItem(field, () => added);
    for (const event of [...running, ...finished]) {
      if (typeof this.toItem(field, () => event)["type"] === "string") continue;
      throw this.fail(field, `an event must have a type, got ${quoteValue(event)}`);
    }
    return { added, running, finished };
  }

  /** Calls a function that returns an earlier call for an upstream model. */
  toPastCall(field: string, work: () => LocalToolPastCall): LocalToolPastCall {
    const { name, args, result } = this.toItem(field, work);
    const isName = name === undefined || typeof name === "string";
    const isResult = result === undefined || typeof result === "string";
    if (isPlainObject(args) && isName && isResult) return { name, args, result };
    throw this.fail(field, "it must return { args }, with name and result as optional strings");
  }
}
