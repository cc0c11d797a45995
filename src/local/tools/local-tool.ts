import type { WireItem } from "../../openai/wire.ts";
import type { PythonRun, ShellRun } from "../sandbox/sandbox.ts";

/**
 * A hosted tool that the local provider runs: one record contains everything specific to one kind. The built-in
 * kinds have the same form. `kind`, `items` and `run` are required; the rest has defaults.
 *
 * @example
 * ```ts
 * import { LocalProvider, type LocalTool, scriptedModel } from "weakincentives/local";
 *
 * const dice: LocalTool<{ sides: number }> = {
 *   kind: "dice",
 *   items: { dice_call: {} },
 *   run: ({ args }) => ({ sides: args.sides, rolled: 4 }),
 * };
 * const model = scriptedModel([[{ use: { kind: "dice", args: { sides: 6 } } }], [{ say: "A 4." }]]);
 * const provider = new LocalProvider({ tools: [dice], model });
 * ```
 */
export interface LocalTool<Args extends object = WireItem> {
  /** The tool's `type` in a request's `tools`. Scripts use it in `use`. 1-64 of a-z, 0-9, _ and -. */
  readonly kind: string;
  /** Other values of `type` for the same tool. @default none */
  readonly aliases?: readonly string[] | undefined;
  /** The types of items that a call consists of. The first is the call itself. */
  readonly items: Readonly<Record<string, LocalToolItem>>;
  /**
   * Runs one call and returns its items. Fills in `type` (that of the call), `id` and `status` ("completed") where
   * they are missing. If it throws, the response fails with an error that names the tool.
   */
  run(
    call: LocalToolCall<Args>,
    context: LocalToolContext,
  ): LocalToolOutput | Promise<LocalToolOutput>;
  /** Describes the tool to an upstream model. Requires `parameters`. @default upstream models are not offered the tool */
  readonly description?: string | undefined;
  /** JSON Schema of the arguments, of type object. Arguments that do not match never reach `run`. @default any object */
  readonly parameters?: WireItem | undefined;
  /** Functions to offer an upstream model, if one is not enough. Cannot be combined with `description` and `parameters`. */
  readonly functions?: readonly LocalToolFunction[] | undefined;
  /** Validates the tool in a request's `tools`. @default accepts any fields */
  readonly check?: LocalToolCheck | undefined;
  /** Validates a `tool_choice` of this tool. @default accepts only `type` */
  readonly checkChoice?: LocalToolCheck | undefined;
  /** Returns the tool as responses repeat it, for example without secrets. @default the tool as sent */
  echo?(entry: WireItem): WireItem;
  /** The tool's field that selects its container. Requests that name a lost container are rejected. @default none */
  readonly containerField?: string | undefined;
}

/** One item type of a `LocalTool`. Every field has a default. */
export interface LocalToolItem {
  /** Validates an item that `run` returns or a client sends back. @default accepts an object with an `id` */
  readonly check?: LocalToolCheck | undefined;
  /** Creates the stream events between `output_item.added` and `output_item.done`. @default `in_progress`, then `completed` or `failed` */
  events?(item: WireItem): LocalToolEvents;
  /** Values of `include` (`"<type>.<field>"`), each with a function that removes the field. @default items are always complete */
  readonly includes?: Readonly<Record<string, (item: WireItem) => WireItem>> | undefined;
  /** The type of the item with which the client answers this call, which ends the turn. @default the provider runs the call */
  readonly answer?: string | undefined;
  /** Whether the client must answer this call. @default true if `answer` is set */
  needsAnswer?(item: WireItem): boolean;
  /** Converts the item to a function call for upstream models. @default fields named in `parameters` are arguments, all others the result */
  toCall?(item: WireItem): LocalToolPastCall;
  /** Converts an item that answers a call to a result for upstream models. @default its fields as JSON */
  toResult?(item: WireItem): string;
  /** The path in the item to the id of the container it ran in: `["container_id"]`. Later calls reuse that container. @default none */
  readonly containerAt?: readonly [string, ...string[]] | undefined;
  /** Whether requests that continue from the item are rejected once its container is lost. @default false */
  readonly needsContainer?: boolean | undefined;
}

/** The call passed to `run`. */
export interface LocalToolCall<Args extends object = WireItem> {
  /** The validated tool in the request's `tools`. */
  readonly entry: WireItem;
  /** The model's arguments. They match `parameters`. */
  readonly args: Args;
}

/** One call's items: a single item, or several in order. */
export type LocalToolOutput = WireItem | readonly WireItem[];

/** The services that `run` can use. */
export interface LocalToolContext {
  /** Aborts when the client disconnects or the provider closes. */
  readonly signal: AbortSignal;
  /** Returns a new id: `newId("dice_")`. */
  newId(prefix: string): string;
  /** The server's containers. */
  readonly containers: LocalToolContainers;
  /** Sets the hits that the model may cite next, with `citations: [{ hit: 0 }]`. */
  cite(hits: readonly LocalToolHit[]): void;
}

/** The server's containers for a tool. Files that a run creates or changes can be cited by name. */
export interface LocalToolContainers {
  /**
   * Returns the id of the container to run in: the container that `place` names (an id, or an object with
   * `container_id`), otherwise the conversation's, otherwise a new one. It has the files of the input.
   */
  resolve(place?: unknown): Promise<string>;
  /** Runs Python in a container. */
  python(containerId: string, code: string): Promise<PythonRun>;
  /** Runs a shell command in a container. */
  shell(containerId: string, command: string): Promise<ShellRun>;
}

/** A search hit that a message may cite. */
export type LocalToolHit =
  | {
      /** A file. */
      readonly type: "file";
      /** Id of the file. */
      readonly fileId: string;
      /** Name of the file. */
      readonly filename: string;
    }
  | {
      /** A web page. */
      readonly type: "url";
      /** Address of the page. */
      readonly url: string;
      /** Title of the page. */
      readonly title: string;
    };

/**
 * Validates a value: returns a sentence or an error that describes the problem, or `null`. `path` is the value's
 * place in the request, such as `tools[0]`. A problem rejects the request with status 400.
 */
export type LocalToolCheck = (value: unknown, path: string) => Error | string | null;

/** One event of an item. `output_index` and `sequence_number` are added. */
export type LocalToolEvent = WireItem & {
  /** Type of the event, such as `"response.dice_call.completed"`. */
  readonly type: string;
};

/** How a stream presents one item. */
export interface LocalToolEvents {
  /** The item in `output_item.added`, in the state before the tool runs. */
  readonly added: WireItem;
  /** Events sent before the tool runs. */
  readonly running: Iterable<LocalToolEvent>;
  /** Events sent after the tool has run. */
  readonly finished: readonly LocalToolEvent[];
}

/** A function with which an upstream model calls the tool. */
export interface LocalToolFunction {
  /** 1-64 of a-z, A-Z, 0-9, _ and -. Must be unique among all tools' functions. */
  readonly name: string;
  /** Describes the function to the model. */
  readonly description: string;
  /** JSON Schema of the arguments, of type object. */
  readonly parameters: WireItem;
  /** Converts the model's arguments for `run`, or returns `null` if they are invalid. @default accepts arguments that match `parameters` */
  read?(args: WireItem): WireItem | null;
}

/** An earlier call, as presented to an upstream model. */
export interface LocalToolPastCall {
  /** The function that was called. @default the tool's first function */
  readonly name?: string | undefined;
  /** Its arguments. */
  readonly args: object;
  /** The returned text. @default the content of the item that answers the call */
  readonly result?: string | undefined;
}
