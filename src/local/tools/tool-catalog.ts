import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import type { ItemRecord, ToolRecord } from "./tool-record.ts";

/** One type of item of one kind. */
export interface KnownItem extends ItemRecord {
  readonly type: string;
  readonly tool: ToolRecord;
}

/** The hosted kinds of one server, looked up by what they are named on the wire. Build it once per server. */
export class ToolCatalog {
  readonly tools: readonly ToolRecord[];
  /** By `type` of an entry of `tools`. */
  readonly byType: ReadonlyMap<unknown, ToolRecord>;
  /** By `type` of a `tool_choice`. */
  readonly byChoice: ReadonlyMap<unknown, ToolRecord>;
  /** By `type` of an item. */
  readonly byItem: ReadonlyMap<unknown, KnownItem>;
  /** By the key of a model action that stands for a call. */
  readonly byAction: ReadonlyMap<string, readonly ToolRecord[]>;
  /** The type of the call, by the type of the item with which a client answers it. */
  readonly calls: ReadonlyMap<string, string>;
  readonly #answered: ReadonlySet<string>;

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
    this.#answered = new Set(this.calls.values());
  }

  /** The kind that a `type` stands for, whichever of its names that is; other types stand for themselves. */
  findKind(type: unknown): unknown {
    return (this.byType.get(type) ?? this.byChoice.get(type))?.kind ?? type;
  }

  /** Whether items of a type are calls that the client answers, or may have to. */
  isAnswered(type: string): boolean {
    return this.#answered.has(type);
  }

  /** Whether an item is a call that the client must answer. */
  needsAnswer(item: WireItem): boolean {
    const { type } = item;
    if (typeof type !== "string" || !this.#answered.has(type)) return false;
    return this.byItem.get(type)?.needsAnswer?.(item) ?? true;
  }

  /** The id of the container that an item ran in; `null` if it names none. */
  findContainer(item: WireItem): string | null {
    const path = this.byItem.get(item["type"])?.containerAt;
    if (!path) return null;
    let value: unknown = item;
    for (const key of path) value = isPlainObject(value) ? value[key] : undefined;
    return typeof value === "string" ? value : null;
  }
}

/** Whether every call of a kind is one that the client answers. */
export function isHandedOver({ items }: ToolRecord): boolean {
  const [call] = Object.values(items);
  return call?.answer !== undefined && call.needsAnswer === undefined;
}

/** Returns the action that calls a tool: its own if it has one, otherwise `use`. */
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
