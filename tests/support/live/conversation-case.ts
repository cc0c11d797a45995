import type { ModelAction } from "weakincentives/local";
import type { OpenAIAdapterOptions } from "weakincentives/openai";

/** A test of roles or streams that runs on the real API and on the local provider. */
export interface ConversationCase {
  /** Title of the test. */
  readonly name: string;
  /** The script of the local provider's model, one entry per step. */
  readonly script: readonly (readonly ModelAction[])[];
  /** Runs the test with these options of the adapter. */
  run(options: OpenAIAdapterOptions): Promise<void>;
}
