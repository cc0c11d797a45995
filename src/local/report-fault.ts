import { ApiProblem } from "./api-problem.ts";

/** Reports an unexpected error, or the error that a script threw, to the provider's `onFault`. */
export function reportFault(error: unknown, onFault: (error: unknown) => void): void {
  if (!(error instanceof ApiProblem)) onFault(error);
  else if (error.cause !== undefined) onFault(error.cause);
}
