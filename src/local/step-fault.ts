import { ApiProblem, type ApiProblemDetails } from "./api-problem.ts";

/**
 * The error for a step of the model that cannot be performed: a mistake in a script, or a tool that fails.
 * Clients must not retry it. The step is not used up, so the next request gets the same step.
 */
export class StepFault extends ApiProblem {
  readonly #problem: string;
  readonly #details: StepFaultDetails;

  constructor(problem: string, details: StepFaultDetails = {}) {
    const { step, code = "model_error" } = details;
    const message = step === undefined ? problem : `Step ${step} failed: ${problem}`;
    super(500, message, { code, headers: { "x-should-retry": "false" }, cause: details.cause });
    this.#problem = problem;
    this.#details = details;
  }

  /**
   * The code of a failed response, where OpenAI allows only its own. Clients do not retry this one. Tools of the
   * user keep theirs.
   */
  get responseCode(): string {
    return this.code === "tool_error" ? this.code : "invalid_prompt";
  }

  /** Returns this error with the step's number, counted from 1, in its message. */
  atStep(step: number): StepFault {
    if (this.#details.step !== undefined || this.code === "script_ended") return this;
    return new StepFault(this.#problem, { ...this.#details, step });
  }
}

/** Optional parts of a {@link StepFault}. */
export interface StepFaultDetails extends Pick<ApiProblemDetails, "cause"> {
  /** The error code. @default "model_error" */
  readonly code?: string | undefined;
  /** The number of the step, from 1. @default none yet */
  readonly step?: number | undefined;
}
