import type { HostedCall } from "../../adapter/model-client.ts";
import { readString } from "../../base/json.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";
import { describeFailure, getCallId, hasFailed, identifyCall } from "../codecs/codec-call.ts";
import type { WireItem, WireTool } from "../wire.ts";

/** The hosted tools of a request, with the entries that were sent for them. */
export type SentTools = ReadonlyMap<HostedTool, WireTool>;

/**
 * Finds the calls of a tool whose codec has no `calls`: one per item of the serialized type. If the
 * codec returns an output but no item is its call, the call has no id and no params.
 */
export function readDefaultCalls(
  codec: HostedToolCodec,
  tool: HostedTool,
  items: readonly WireItem[],
  getEntries: () => SentTools,
): readonly HostedCall[] {
  const whole = codec.parseOutput(items, tool);
  if (whole === null || whole === undefined) return [];
  const sent = getEntries();
  const own = preferCalls(items.filter((item) => findOwners(item, sent).includes(tool)));
  const candidates = own.length > 0 ? own : findForeignCalls(codec, tool, items, sent);
  const calls = candidates.flatMap((item) => {
    const output = codec.parseOutput(selectItems(item, candidates, items), tool) ?? null;
    return output === null ? [] : [{ ...identifyCall(item, tool), ...toOutcome(item), output }];
  });
  const { name, kind } = tool;
  const unidentified = { name, kind, callId: "", raw: {}, ...toOutcome({}), output: whole };
  return calls.length > 0 ? calls : [unidentified];
}

/** Returns the kind of the tool that a call's item belongs to; without one, its type names it. */
export function findCallKind(item: WireItem, sent: SentTools): string {
  const [owner] = findOwners(item, sent);
  return owner?.kind ?? readString(item, "type").replace(/_call$/, "");
}

/**
 * Finds the tools that an item may belong to: its type is the serialized type of the tool, or
 * begins with it. The longest type wins; kinds are used only if no serialized type matches.
 */
function findOwners(item: WireItem, sent: SentTools): readonly HostedTool[] {
  const type = readString(item, "type");
  const bySentType = findLongest(type, sent, (_, entry) => [entry.type, trimVersion(entry.type)]);
  return bySentType.length > 0 ? bySentType : findLongest(type, sent, ({ kind }) => [kind]);
}

function findLongest(
  type: string,
  sent: SentTools,
  getPrefixes: (tool: HostedTool, entry: WireTool) => readonly string[],
): readonly HostedTool[] {
  const matches = [...sent].map(([tool, entry]) => {
    const prefixes = getPrefixes(tool, entry).filter((one) => `${type}_`.startsWith(`${one}_`));
    return { tool, length: Math.max(0, ...prefixes.map((one) => one.length)) };
  });
  const longest = Math.max(0, ...matches.map(({ length }) => length));
  return matches.filter(({ length }) => length > 0 && length === longest).map(({ tool }) => tool);
}

/** `"web_search_preview_2025_03_11"` → `"web_search"`: calls do not repeat the version. */
function trimVersion(type: string): string {
  return type.replace(/_\d{4}_\d{2}_\d{2}$/, "").replace(/_preview$/, "");
}

/** Items named `…_call` are calls. The other items of a tool, such as outputs, belong to them. */
function preferCalls(items: readonly WireItem[]): readonly WireItem[] {
  const calls = items.filter((item) => readString(item, "type").endsWith("_call"));
  return calls.length > 0 ? calls : items;
}

/** Types of items that are never calls of a hosted tool. */
const OTHER_TYPES = new Set(["message", "reasoning", "function_call", "compaction"]);

/** Finds items of types that no tool has, without which the codec returns no output. */
function findForeignCalls(
  codec: HostedToolCodec,
  tool: HostedTool,
  items: readonly WireItem[],
  sent: SentTools,
): readonly WireItem[] {
  const foreign = items.filter(
    (item) => !OTHER_TYPES.has(readString(item, "type")) && findOwners(item, sent).length === 0,
  );
  const without = items.filter((item) => !foreign.includes(item));
  return (codec.parseOutput(without, tool) ?? null) === null ? foreign : [];
}

/** Selects the items to read one call: all except the other calls and the items that answer them. */
function selectItems(
  call: WireItem,
  calls: readonly WireItem[],
  items: readonly WireItem[],
): readonly WireItem[] {
  const others = new Set(calls.filter((other) => other !== call));
  const ids = new Set(
    [...others].map(getCallId).filter((id) => id !== "" && id !== getCallId(call)),
  );
  const isOther = (item: WireItem) => others.has(item) || ids.has(readString(item, "call_id"));
  return items.filter((item) => !isOther(item));
}

function toOutcome(item: WireItem) {
  const status = readString(item, "status");
  const success = !hasFailed(status);
  return { params: item, success, message: success ? "OK" : describeFailure(status) };
}
