import { isPlainObject } from "../../base/freeze.ts";
import { readRecords } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import type { ItemRecord, ToolRecord } from "./tool-record.ts";

/** One item type together with its kind. */
export interface KnownItem extends ItemRecord {
  readonly type: string;
  readonly tool: ToolRecord;
}

/** Looks up the hosted kinds of one server by their names on the wire. Build it once per server. */
export class ToolCatalog {
  readonly tools: readonly ToolRecord[];
  /** By `type` in a request's `tools`. */
  readonly byType: ReadonlyMap<unknown, ToolRecord>;
  /** By `type` of a `tool_choice`. */
  readonly byChoice: ReadonlyMap<unknown, ToolRecord>;
  /** By `type` of an item. */
  readonly byItem: ReadonlyMap<unknown, KnownItem>;
  /** By the key of a model action that calls the kind. */
  readonly byAction: ReadonlyMap<string, readonly ToolRecord[]>;
  /** Types of calls, by the type of the item with which a client answers them. */
  readonly calls: ReadonlyMap<string, string>;
  readonly #answeredTypes: ReadonlySet<string>;

  constructor(tools: readonly ToolRecord[]) {
    this.tools = tools;
    this.byType = indexTools(tools, ({ kind, aliases = [] }) => [kind, ...aliases]);
    this.byChoice = indexTools(
      tools,
      ({ kind, aliases = [], choiceTypes = [kind, ...aliases] }) => choiceTypes,
    );
    const items = tools.flatMap((tool) =>
      Object.entries(tool.items).map(([type, item]): KnownItem => ({ ...item, type, tool })),
    );
    this.byItem = new Map(items.map((item) => [item.type, item]));
    this.byAction = groupByAction(tools);
    this.calls = new Map([
      ...CLIENT_CALLS.map((type) => [`${type}_output`, type] as const),
      ...items.flatMap(({ type, answer }) =>
        answer === undefined ? [] : [[answer, type] as const],
      ),
    ]);
    this.#answeredTypes = new Set(this.calls.values());
  }

  /** Returns the kind for any of its names. Other types are returned unchanged. */
  findKind(type: unknown): unknown {
    return (this.byType.get(type) ?? this.byChoice.get(type))?.kind ?? type;
  }

  /** Whether the client sometimes or always answers items with this type. */
  mayNeedAnswer(type: string): boolean {
    return this.#answeredTypes.has(type);
  }

  /** Whether the client must answer this item. */
  needsAnswer(item: WireItem): boolean {
    const { type } = item;
    if (typeof type !== "string" || !this.#answeredTypes.has(type)) return false;
    return this.byItem.get(type)?.needsAnswer?.(item) ?? true;
  }

  /** Whether an item adds tools to those of the request. */
  addsTools({ type }: WireItem): boolean {
    return type === "additional_tools" || this.byItem.get(type)?.listsTools === true;
  }

  /** Returns the tools that a conversation's items add to those of the request. */
  listAddedTools(items: readonly WireItem[]): readonly WireItem[] {
    return items
      .filter((item) => this.addsTools(item))
      .flatMap((item) => readRecords(item, "tools"));
  }

  /** Returns the id of the container that an item ran in; `null` without a container. */
  findContainer(item: WireItem): string | null {
    const path = this.byItem.get(item["type"])?.containerAt;
    if (!path) return null;
    let value: unknown = item;
    for (const key of path) value = isPlainObject(value) ? value[key] : undefined;
    return typeof value === "string" ? value : null;
  }
}

/** Whether the client answers all of a kind's calls. */
export function isClientTool({ items }: ToolRecord): boolean {
  const [call] = Object.values(items);
  return call?.answer !== undefined && call.needsAnswer === undefined;
}

/** Returns the action that calls a tool: its shorthand if it has one, otherwise `use`. */
export function toAction({ kind, shorthand }: ToolRecord, args: WireItem): ModelAction {
  return shorthand?.toAction(args) ?? { use: { kind, args } };
}

/** Calls of the client's own tools. */
const CLIENT_CALLS: readonly string[] = ["function_call", "custom_tool_call"];

function indexTools(
  tools: readonly ToolRecord[],
  toTypes: (tool: ToolRecord) => readonly string[],
): ReadonlyMap<unknown, ToolRecord> {
  return new Map(tools.flatMap((tool) => toTypes(tool).map((type) => [type, tool] as const)));
}

function groupByAction(tools: readonly ToolRecord[]): ReadonlyMap<string, readonly ToolRecord[]> {
  const groups = new Map<string, readonly ToolRecord[]>();
  for (const tool of tools) {
    const { shorthand } = tool;
    if (shorthand) groups.set(shorthand.key, [...(groups.get(shorthand.key) ?? []), tool]);
  }
  return groups;
}
