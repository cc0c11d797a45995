import type { WireItem } from "../../openai/wire.ts";
import type { PythonRun, ShellRun } from "../sandbox/sandbox.ts";

/**
 * A hosted tool that the local provider runs: everything that is specific to one kind, in one record. The
 * built-in kinds are records of this form. `kind`, `items` and `run` are required; the rest has defaults.
 *
 * @example
 * const dice: LocalTool<{ sides: number }> = {
 *   kind: "dice",
 *   items: { dice_call: {} },
 *   run: ({ args }) => ({ sides: args.sides, rolled: 4 }),
 * };
 * new LocalProvider({ tools: [dice], model: scriptedModel([[{ use: { kind: "dice", args: { sides: 6 } } }]]) });
 */
export interface LocalTool<Args extends object = WireItem> {
  /** The `type` of the tool in a request's `tools`; scripts name it in `use`. 1-64 of a-z, 0-9, _ and -. */
  readonly kind: string;
  /** Other values of `type` that mean the same tool. @default none */
  readonly aliases?: readonly string[] | undefined;
  /** The items that a call consists of, by their `type`. The first is the call itself. */
  readonly items: Readonly<Record<string, LocalToolItem>>;
  /**
   * Runs one call and returns its items. `type` (that of the call), `id` and `status` ("completed") are filled
   * in where they are missing. If it throws, the response fails with an error that names the tool.
   */
  run(
    call: LocalToolCall<Args>,
    context: LocalToolContext,
  ): LocalToolOutput | Promise<LocalToolOutput>;
  /** Tells an upstream model what the tool does. Needs `parameters`. @default an upstream model is not offered it */
  readonly description?: string | undefined;
  /** JSON Schema of the arguments, an object. Arguments that do not match never reach `run`. @default any object */
  readonly parameters?: WireItem | undefined;
  /** The functions that an upstream model is offered, if one is not enough. Excludes `description` and `parameters`. */
  readonly functions?: readonly LocalToolFunction[] | undefined;
  /** Checks the tool in a request's `tools`. @default any fields are accepted */
  readonly check?: LocalToolCheck | undefined;
  /** Checks a `tool_choice` of this tool. @default `type` and nothing else */
  readonly checkChoice?: LocalToolCheck | undefined;
  /** The tool as responses repeat it, for example without its secrets. @default as it was sent */
  echo?(entry: WireItem): WireItem;
  /** The field of the tool that says which container it runs in; requests that name a lost one are refused. @default none */
  readonly containerField?: string | undefined;
}

/** One type of item of a `LocalTool`. Every field has a default. */
export interface LocalToolItem {
  /** Checks an item that `run` returned, or that a client sends back. @default an object with an `id` */
  readonly check?: LocalToolCheck | undefined;
  /** The stream's events between `output_item.added` and `output_item.done`. @default `in_progress`, then `completed` or `failed` */
  events?(item: WireItem): LocalToolEvents;
  /** Values of `include`, `"<type>.<field>"`, and what the item is without each. @default items are always shown whole */
  readonly includes?: Readonly<Record<string, (item: WireItem) => WireItem>> | undefined;
  /** The type of the item with which the client answers this call; the turn ends with it. @default the provider runs the call */
  readonly answer?: string | undefined;
  /** Whether this call is one that the client must answer. @default true, if `answer` is set */
  needsAnswer?(item: WireItem): boolean;
  /** The item as a call of a function, for upstream models. @default fields named in `parameters` are arguments, all others the result */
  toCall?(item: WireItem): LocalToolPastCall;
  /** The result in an item that answers a call, for upstream models. @default its fields as JSON */
  toResult?(item: WireItem): string;
  /** Where the item names the container that it ran in: `["container_id"]`. Later calls run there too. @default nowhere */
  readonly containerAt?: readonly [string, ...string[]] | undefined;
  /** Whether requests that continue from the item are refused once its container is lost. @default false */
  readonly needsContainer?: boolean | undefined;
}

/** What `run` is called with. */
export interface LocalToolCall<Args extends object = WireItem> {
  /** The tool in the request's `tools`, checked. */
  readonly entry: WireItem;
  /** The model's arguments. They match `parameters`. */
  readonly args: Args;
}

/** The items of one call: one, or several in their order. */
export type LocalToolOutput = WireItem | readonly WireItem[];

/** What a running call may use. */
export interface LocalToolContext {
  /** Aborts when the client is gone or the provider closes. */
  readonly signal: AbortSignal;
  /** Returns a new id: `newId("dice_")`. */
  newId(prefix: string): string;
  /** The server's containers. */
  readonly containers: LocalToolContainers;
  /** Makes these the hits that the model may cite next, with `citations: [{ hit: 0 }]`. */
  cite(hits: readonly LocalToolHit[]): void;
}

/** Containers as a tool uses them. Files that a run creates or changes can be cited by name. */
export interface LocalToolContainers {
  /**
   * Returns the id of the container to run in: the one that `place` names (an id, or an object with
   * `container_id`), otherwise the conversation's, otherwise a new one.
   */
  resolve(place?: unknown): Promise<string>;
  /** Runs Python in a container. */
  python(containerId: string, code: string): Promise<PythonRun>;
  /** Runs a shell command in a container. */
  shell(containerId: string, command: string): Promise<ShellRun>;
}

/** Something that a tool found and a message may cite. */
export type LocalToolHit =
  | { readonly type: "file"; readonly fileId: string; readonly filename: string }
  | { readonly type: "url"; readonly url: string; readonly title: string };

/**
 * Says what is wrong with a value, in a sentence or as an error, or returns `null`. `path` is its place in the
 * request: `tools[0]`. The request is refused with status 400.
 */
export type LocalToolCheck = (value: unknown, path: string) => Error | string | null;

/** One event of an item; `output_index` and `sequence_number` are added. */
export type LocalToolEvent = WireItem & { readonly type: string };

/** How a stream shows one item. */
export interface LocalToolEvents {
  /** The item of `output_item.added`, as it is before it has run. */
  readonly added: WireItem;
  /** Events from before the tool has run. */
  readonly running: Iterable<LocalToolEvent>;
  /** Events from after it has run. */
  readonly finished: readonly LocalToolEvent[];
}

/** A function under which an upstream model calls the tool. */
export interface LocalToolFunction {
  /** 1-64 of a-z, A-Z, 0-9, _ and -; no other tool's function has it. */
  readonly name: string;
  /** Tells the model what the function does. */
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: WireItem;
  /** The arguments for `run`, or `null` if these do not fit. @default those that match `parameters` */
  read?(args: WireItem): WireItem | null;
}

/** An earlier call as an upstream model is told of it. */
export interface LocalToolPastCall {
  /** The function that was called. @default the first of the tool's */
  readonly name?: string | undefined;
  /** Its arguments. */
  readonly args: object;
  /** What it returned. @default what the item says that answers the call */
  readonly result?: string | undefined;
}
