import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import type { Shape } from "../validators/shapes.ts";
import type {
  LocalTool,
  LocalToolCall,
  LocalToolContext,
  LocalToolFunction,
  LocalToolItem,
} from "./local-tool.ts";
import type { ToolServices } from "./tool-services.ts";

/** A hosted kind as the server uses it: a `LocalTool`, and what only the built-in kinds have. */
export interface ToolRecord
  extends Omit<LocalTool, "run" | "items" | "check" | "checkChoice" | "functions" | "echo"> {
  readonly items: Readonly<Record<string, ItemRecord>>;
  readonly check?: Shape | undefined;
  readonly checkChoice?: Shape | undefined;
  readonly functions?: readonly FunctionRecord[] | undefined;
  /** Absent for kinds that nothing runs here. */
  run?(
    call: LocalToolCall,
    context: ToolContext,
  ): readonly WireItem[] | Promise<readonly WireItem[]>;
  /** The tool as responses repeat it: with OpenAI's defaults, without secrets. @default as it was sent */
  echo?(entry: WireItem, containerId: string | null): WireItem;
  /** Requests that offer the kind are refused. @default they are accepted, also if nothing runs it */
  readonly isRefused?: true | undefined;
  /** The types by which `tool_choice` names the kind. @default `kind` and `aliases` */
  readonly choiceTypes?: readonly string[] | undefined;
  /** The field that tells several tools of this kind apart in a `tool_choice`. @default none */
  readonly label?: string | undefined;
  /** The model actions, besides `use`, that are calls of this kind. */
  readonly shorthand?: ToolShorthand | undefined;
  /** The arguments with which the echo model calls the kind if it must. @default the smallest that match */
  echoArgs?(text: string): WireItem;
  /** For requests that leave the model no choice. */
  readonly forced?: ForcedCall | undefined;
}

/** One type of item of a kind. */
export interface ItemRecord extends Omit<LocalToolItem, "check"> {
  readonly check?: Shape | undefined;
  /** Whether its `tools` are tools like those of a request. @default false */
  readonly listsTools?: true | undefined;
}

/** A function under which an upstream model calls a kind. */
export interface FunctionRecord extends LocalToolFunction {
  read(args: WireItem): WireItem | null;
}

/** What a running call of a built-in kind may use. */
export interface ToolContext extends LocalToolContext {
  readonly services: Pick<ToolServices, "vectorStores" | "web">;
}

/** A model action of its own for one kind: `{ code }`. */
export interface ToolShorthand {
  /** The action's key. Several kinds may share one; the first that accepts an action performs it. */
  readonly key: string;
  /** The call that an action stands for, or `null` if another kind performs it. */
  fromAction(action: ModelAction, isOffered: boolean): ShorthandCall | null;
  /** The action that stands for a call with these arguments. */
  toAction(args: WireItem): ModelAction;
}

/** The call that an action stands for. */
export interface ShorthandCall {
  readonly args: WireItem;
  /** What the model did, for an error: `"ran code"`. */
  readonly did: string;
}

/** The only sensible call of a request that forces a kind, so that no model is asked. */
export interface ForcedCall {
  /** The arguments that the last message holds, or `null` if the model has to decide. */
  readArgs(text: string): WireItem | null;
  /** What the model says after the call. */
  answer(call: WireItem): string;
}
