import type { FunctionRecord, ToolRecord } from "../../tools/tool-record.ts";

/** One function that an upstream model may call. */
export interface ChatFunction {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: unknown;
  readonly strict: boolean;
  /** Whether it is a custom tool of the client, whose input is plain text. */
  readonly isCustom: boolean;
  /** The hosted tool's function, or `null` for a function of the client. */
  readonly hosted: HostedFunction | null;
}

/** A function that represents a hosted tool or a part of one. */
export interface HostedFunction extends FunctionRecord {
  readonly tool: ToolRecord;
}
