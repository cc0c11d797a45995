import { copyAndFreeze, isPlainObject } from "../../../base/freeze.ts";
import { readRecord } from "../../../base/json.ts";
import { jsonSchema } from "../../../base/schema/json-schema.ts";
import { validateNow } from "../../../base/schema/schema.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { anyObject, object, string, type Validator } from "../../validators/validator.ts";
import { createNoEvents, createPlainItemEvents } from "../item-events.ts";
import { callId, typeOnly } from "../item-fields.ts";
import type { LocalTool, LocalToolFunction, LocalToolItem } from "../local-tool.ts";
import type { FunctionRecord, ItemRecord, ToolRecord } from "../tool-record.ts";
import { runCustomTool } from "./run-custom-tool.ts";
import { ToolGuard } from "./tool-guard.ts";

/**
 * Converts a validated `LocalTool` to the record that the server uses. Applies defaults and guards all functions:
 * if one throws or returns an invalid value, the error names the tool.
 */
export function toToolRecord(tool: LocalTool): ToolRecord {
  const { kind, aliases = [], containerField, check, checkChoice, echo, run } = tool;
  const guard = new ToolGuard(kind);
  const functions = listFunctions(tool).map((one) => toFunctionRecord(one, guard));
  const answers = new Set(Object.values(tool.items).map(({ answer }) => answer));
  const items = Object.entries(tool.items).map(([type, item]) => {
    const place = { type, isAnswer: answers.has(type), functions, guard };
    return [type, toItemRecord(item, place)] as const;
  });
  const record: ToolRecord = {
    kind,
    aliases: [...aliases],
    items: Object.fromEntries(items),
    functions,
    check: guard.toShape("check", check?.bind(tool), anyObject),
    checkChoice: checkChoice
      ? guard.toShape("checkChoice", checkChoice.bind(tool), anyObject)
      : typeOnly,
    containerField,
    ...(echo && {
      echo: (entry) => guard.toItem("echo", () => echo.call(tool, copyAndFreeze(entry))),
    }),
    run: (call, context) => runCustomTool({ run: run.bind(tool), record, guard }, call, context),
  };
  return Object.freeze(record);
}

/** The fields of a tool that describe its functions to an upstream model. */
export type FunctionSource = Pick<LocalTool, "kind" | "description" | "parameters" | "functions">;

/** Returns a tool's functions, or the single one described by `description` and `parameters`. */
export function listFunctions(tool: FunctionSource): readonly LocalToolFunction[] {
  const { kind: name, description, parameters, functions = [] } = tool;
  if (description === undefined || parameters === undefined) return functions;
  return [{ name, description, parameters }];
}

function toFunctionRecord(given: LocalToolFunction, guard: ToolGuard): FunctionRecord {
  const { name, description, read } = given;
  const parameters = copyAndFreeze(given.parameters);
  const schema = jsonSchema(parameters);
  return {
    name,
    description,
    parameters,
    read(args) {
      if (!read) return validateNow(schema, args).ok ? args : null;
      const field = `functions.${name}.read`;
      const result = guard.call(field, () => read.call(given, args));
      return result === null ? null : guard.toItem(field, () => result);
    },
  };
}

interface ItemPlace {
  readonly type: string;
  /** Whether the item answers a call. */
  readonly isAnswer: boolean;
  readonly functions: readonly FunctionRecord[];
  readonly guard: ToolGuard;
}

function toItemRecord(item: LocalToolItem, place: ItemPlace): ItemRecord {
  const { isAnswer, guard } = place;
  const { answer, needsAnswer, events, containerAt, needsContainer } = item;
  const toField = (key: string) => `items.${place.type}.${key}`;
  const includes = Object.entries(item.includes ?? {}).map(([value, without]) => {
    const hide = (shown: WireItem) => guard.toItem(toField("includes"), () => without(shown));
    return [value, hide] as const;
  });
  return {
    answer,
    containerAt,
    needsContainer,
    includes: Object.fromEntries(includes),
    check: guard.toShape(toField("check"), item.check?.bind(item), createItemShape(item, isAnswer)),
    events(given) {
      if (events) return guard.toEvents(toField("events"), () => events.call(item, given));
      return isAnswer ? createNoEvents(given) : createPlainItemEvents(given);
    },
    ...(needsAnswer && {
      needsAnswer: (given) =>
        guard.call(toField("needsAnswer"), () => needsAnswer.call(item, given)) === true,
    }),
    ...(isAnswer
      ? { toResult: createToResult(item, place) }
      : { toCall: createToCall(item, place) }),
  };
}

/** Creates the validator of the fields that the server relies on. All other fields belong to the tool. */
function createItemShape({ answer }: LocalToolItem, isAnswer: boolean): Validator {
  const id = string({ min: 1 });
  const call = answer !== undefined || isAnswer ? { call_id: callId } : {};
  const frame = isAnswer ? object(call, { id }) : object({ ...call, id });
  const names = ["id", ...Object.keys(call)];
  return (value, path) => {
    if (!isPlainObject(value)) return anyObject(value, path);
    const own = names.filter((name) => name in value).map((name) => [name, value[name]]);
    return frame(Object.fromEntries(own), path);
  };
}

function createToResult(
  item: LocalToolItem,
  { type, guard }: ItemPlace,
): NonNullable<ItemRecord["toResult"]> {
  const { toResult } = item;
  if (!toResult) return (given) => JSON.stringify(omitCommonFields(given));
  return (given) => {
    const field = `items.${type}.toResult`;
    const result = guard.call(field, () => toResult.call(item, given));
    if (typeof result === "string") return result;
    throw guard.fail(field, `it must return a string, got ${typeof result}`);
  };
}

/** By default, fields named in `parameters` are the arguments. The others are the result, unless another item answers the call. */
function createToCall(item: LocalToolItem, place: ItemPlace): NonNullable<ItemRecord["toCall"]> {
  const { type, guard, functions } = place;
  const { answer, toCall } = item;
  if (toCall)
    return (given) => guard.toPastCall(`items.${type}.toCall`, () => toCall.call(item, given));
  const names = new Set(
    functions.flatMap(({ parameters }) => Object.keys(readRecord(parameters, "properties"))),
  );
  return (given) => {
    const entries = Object.entries(omitCommonFields(given));
    const args = Object.fromEntries(entries.filter(([name]) => names.has(name)));
    const rest = Object.fromEntries(entries.filter(([name]) => !names.has(name)));
    return answer === undefined ? { args, result: JSON.stringify(rest) } : { args };
  };
}

function omitCommonFields(item: WireItem): WireItem {
  const { id: _id, type: _type, call_id: _callId, status: _status, ...rest } = item;
  return rest;
}
