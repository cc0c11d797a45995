import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import type { Validator } from "../validators/validator.ts";
import type {
  LocalTool,
  LocalToolCall,
  LocalToolContext,
  LocalToolFunction,
  LocalToolItem,
} from "./local-tool.ts";
import type { ToolServices } from "./tool-services.ts";

/** A hosted kind as the server uses it: a `LocalTool` plus fields that only built-in kinds have. */
export interface ToolRecord
  extends Omit<LocalTool, "run" | "items" | "check" | "checkChoice" | "functions" | "echo"> {
  readonly items: Readonly<Record<string, ItemRecord>>;
  readonly check?: Validator | undefined;
  readonly checkChoice?: Validator | undefined;
  readonly functions?: readonly FunctionRecord[] | undefined;
  /** Returns the functions of a tool that describes its own arguments. @default `functions` */
  toFunctions?(entry: WireItem): readonly FunctionRecord[];
  /** Runs a call. Absent for kinds that do not run locally. */
  run?(
    call: LocalToolCall,
    context: ToolContext,
  ): readonly WireItem[] | Promise<readonly WireItem[]>;
  /** Throws a `StepFault` if the server lacks what the kind needs to run. @default it lacks nothing */
  checkServices?(services: ToolContext["services"]): void;
  /** Returns the tool as responses repeat it: with OpenAI's defaults, without secrets. @default the tool as sent */
  echo?(entry: WireItem, containerId: string | null): WireItem;
  /** Rejects requests that offer the kind. @default requests are accepted, even if the kind cannot run */
  readonly isRefused?: true | undefined;
  /** Values of `type` that select the kind in `tool_choice`. @default `kind` and `aliases` */
  readonly choiceTypes?: readonly string[] | undefined;
  /** The field that distinguishes several tools with the same kind in a `tool_choice`. @default none */
  readonly label?: string | undefined;
  /** The model action, in addition to `use`, that calls this kind. */
  readonly shorthand?: ToolShorthand | undefined;
  /** Returns the arguments with which the echo model calls the kind when it must. @default the smallest valid arguments */
  echoArgs?(text: string): WireItem;
  /** Handles requests that leave the model no choice. */
  readonly forced?: ForcedCall | undefined;
}

/** One item type of a kind. */
export interface ItemRecord extends Omit<LocalToolItem, "check"> {
  readonly check?: Validator | undefined;
  /** Whether its `tools` have the same format as a request's, and add to them. @default false */
  readonly listsTools?: true | undefined;
}

/** A function with which an upstream model calls a kind. */
export interface FunctionRecord extends LocalToolFunction {
  read(args: WireItem): WireItem | null;
}

/** The services that `run` of a built-in kind can use. */
export interface ToolContext extends LocalToolContext {
  readonly services: Pick<ToolServices, "vectorStores" | "web">;
  /**
   * Reports the call that is about to run, so that clients see it. The first item that `run` returns must be the same
   * call, finished.
   */
  begin(call: WireItem): Promise<void>;
  /** The tools that the request offers. */
  readonly tools: readonly WireItem[];
}

/** A model action specific to one kind, such as `{ code }`. */
export interface ToolShorthand {
  /** The action's key. Several kinds may share one; the first that accepts an action performs it. */
  readonly key: string;
  /** Converts an action to a call, or returns `null` if another kind handles it. */
  fromAction(action: ModelAction, isOffered: boolean): ShorthandCall | null;
  /** Converts arguments to the action that calls the kind with them. */
  toAction(args: WireItem): ModelAction;
}

/** The call that an action represents. */
export interface ShorthandCall {
  readonly args: WireItem;
  /** The model's action, for error messages: `"ran code"`. */
  readonly did: string;
}

/** The only sensible call for a request that forces a kind. The server makes it without a model. */
export interface ForcedCall {
  /** Reads the arguments from the last message, or returns `null` if the model has to decide. */
  readArgs(text: string): WireItem | null;
  /** Returns the model's text after the call. */
  answer(call: WireItem): string;
}
