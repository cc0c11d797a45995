import { isPlainObject } from "../../base/freeze.ts";
import { stableStringify } from "../../base/json.ts";
import type { Tool } from "../../tools/tool.ts";
import type { HostedCall } from "../model-client.ts";
import { parseDeclaredOutput } from "./parse-declared-output.ts";

/** A hosted call after its hook or handler. */
export interface SettledCall {
  /** The call with the output that the hook or handler returned, if it returned one. */
  readonly call: HostedCall;
  /** The output before the hook or handler, parsed by the tool's result schema, if it has one. */
  readonly declared: unknown;
  /** The native or provider tool that declared the hosted tool, if any. */
  readonly tool: Tool | null;
}

/**
 * Combines the outputs of all calls, by tool name. `reported` has the provider's outputs for all
 * calls of a tool together. For a tool that was called once, the result is the call's output.
 */
export async function combineOutputs(
  calls: readonly SettledCall[],
  reported: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, unknown>> {
  const outputs = new Map(reported);
  const withOutput = calls.filter(({ call }) => isPresent(call.output));
  for (const name of new Set(withOutput.map(({ call }) => call.name))) {
    const own = withOutput.filter(({ call }) => call.name === name);
    const declared = own.map((one) => one.declared).filter(isPresent);
    const whole = await parseWhole(own, reported.get(name));
    outputs.set(name, applyChanges(whole ?? joinOutputs(declared), own));
  }
  return outputs;
}

function isPresent(output: unknown): boolean {
  return output !== null && output !== undefined;
}

/** Parses the output of all calls in the form that the tool declares; `null` if it does not fit. */
async function parseWhole(own: readonly SettledCall[], whole: unknown): Promise<unknown> {
  const last = own.at(-1);
  if (!last || !isPresent(whole)) return null;
  const { tool, declared, call } = last;
  if (!tool?.result) return whole;
  if (own.length === 1) return declared;
  const item = { ...call.raw, calls: own.map((one) => one.call.raw) };
  const parsed = await parseDeclaredOutput(tool, tool.result, { output: whole, item });
  return parsed.ok ? parsed.value : null;
}

/** Applies the changes that hooks and handlers made. Fields that they did not change stay. */
function applyChanges(whole: unknown, own: readonly SettledCall[]): unknown {
  const outputs = own.map(({ call }) => call.output);
  if (own.every(({ call, declared }) => isEqualData(call.output, declared))) return whole;
  if (outputs.length === 1 || !isPlainObject(whole) || !outputs.every(isPlainObject))
    return joinOutputs(outputs);
  const isChanged = (field: string) =>
    own.some(({ declared }, index) => {
      const before = isPlainObject(declared) ? declared[field] : undefined;
      return !isEqualData(outputs[index]?.[field], before);
    });
  const changed = Object.entries(joinFields(outputs)).filter(([field]) => isChanged(field));
  return { ...whole, ...Object.fromEntries(changed) };
}

/** Joins the outputs of several calls: lists are joined, and of other values the last is used. */
function joinOutputs(outputs: readonly unknown[]): unknown {
  if (outputs.length < 2) return outputs[0];
  if (outputs.every((output) => Array.isArray(output))) return joinLists(outputs);
  return outputs.every(isPlainObject) ? joinFields(outputs) : outputs.at(-1);
}

function joinFields(outputs: readonly Record<string, unknown>[]): Record<string, unknown> {
  const fields = new Set(outputs.flatMap(Object.keys));
  const joined = [...fields].map((field) => {
    const values = outputs
      .filter((output) => Object.hasOwn(output, field))
      .map((output) => output[field]);
    return [
      field,
      values.every((value) => Array.isArray(value)) ? joinLists(values) : values.at(-1),
    ];
  });
  return Object.fromEntries(joined);
}

/** Joins lists. A record that an earlier list has too, such as a citation, is not repeated. */
function joinLists(lists: readonly (readonly unknown[])[]): readonly unknown[] {
  const joined: unknown[] = [];
  const earlier = new Set<string>();
  for (const list of lists) {
    const own: string[] = [];
    for (const entry of list) {
      const text = toText(entry);
      if (text !== null && earlier.has(text)) continue;
      joined.push(entry);
      if (text !== null) own.push(text);
    }
    for (const text of own) earlier.add(text);
  }
  return joined;
}

/** Returns a record as text, to compare it; `null` for other values and records that are not JSON. */
function toText(entry: unknown): string | null {
  try {
    return isPlainObject(entry) ? stableStringify(entry) : null;
  } catch {
    return null; // circular, or a bigint: it is not compared
  }
}

/** Compares plain data by value, and class instances by identity. */
function isEqualData(one: unknown, other: unknown): boolean {
  const open: [unknown, unknown][] = [[one, other]]; // A stack, because data may be deeply nested.
  const seen = new Set<unknown>();
  for (let pair = open.pop(); pair; pair = open.pop()) {
    const [left, right] = pair;
    if (Object.is(left, right) || seen.has(left)) continue;
    const isList = Array.isArray(left) && Array.isArray(right);
    if (!isList && !(isPlainObject(left) && isPlainObject(right))) return false;
    seen.add(left);
    const [parts, others] = [Object.entries(left), Object.entries(right)];
    const rest = new Map(others);
    if (parts.length !== others.length || !parts.every(([key]) => rest.has(key))) return false;
    for (const [key, part] of parts) open.push([part, rest.get(key)]);
  }
  return true;
}
