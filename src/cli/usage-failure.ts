import { type InvalidOptionError, WinkError } from "../base/errors.ts";

/** Reports that the command line is wrong, so that the command ends with the exit code for usage errors. */
export class UsageFailure extends WinkError {
  override readonly name: string;

  constructor(error: InvalidOptionError) {
    super(error.message, { cause: error });
    this.name = error.name;
  }
}
