import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readRecords, readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { nullable, object, oneOf, string, unionByTag } from "../validators/validator.ts";
import { createDeltas, createNoEvents } from "./item-events.ts";
import {
  allowed_callers,
  caller,
  callFields,
  created_by,
  itemId,
  longText,
  type,
} from "./item-fields.ts";
import type { LocalToolEvents } from "./local-tool.ts";
import { createObjectSchema, isString, joinParagraphs } from "./object-schema.ts";
import type { ToolRecord } from "./tool-record.ts";

const file = { type, path: string({ min: 1 }) };
const operationWithDiff = object({ ...file, diff: longText });

/** Changes files at the client, with one call per file. https://platform.openai.com/docs/guides/tools-apply-patch */
export const applyPatch: ToolRecord = {
  kind: "apply_patch",
  check: object({ type }, { allowed_callers }),

  run: ({ args }, { newId }) =>
    readRecords(args, "operations").map((operation) => ({
      id: newId("apc_"),
      type: "apply_patch_call",
      call_id: newId("call_"),
      status: "completed",
      operation,
    })),

  shorthand: {
    key: "patch",
    fromAction: (action) =>
      "patch" in action ? { args: { operations: action.patch }, did: "wrote a patch" } : null,
    toAction: (args) => ({ patch: readRecords(args, "operations") }),
  },
  echoArgs: () => ({
    operations: [{ type: "create_file", path: "echo.txt", diff: "+You said something.\n" }],
  }),
  functions: [
    {
      name: "apply_patch",
      description:
        "Creates, changes and deletes files. A diff has a line starting with + for each added line; to change a file, also lines starting with - for removed ones and with a space for those around them, in sections that start with @@.",
      parameters: createObjectSchema({
        operations: {
          type: "array",
          items: {
            type: "object",
            properties: {
              type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
              path: { type: "string", description: "The file's path." },
              diff: {
                type: "string",
                description: "The content to write or change. Omit it to delete the file.",
              },
            },
            required: ["type", "path"],
            additionalProperties: false,
          },
          minItems: 1,
        },
      }),
      /** Models often pass a single operation without the array. */
      read({ operations, ...alone }) {
        const all = Array.isArray(operations) ? operations : [operations ?? alone];
        return all.length > 0 && all.every(isOperation) ? { operations: all } : null;
      },
    },
  ],

  items: {
    apply_patch_call: {
      check: object(
        {
          ...callFields,
          status: oneOf("in_progress", "completed"),
          operation: unionByTag({
            create_file: operationWithDiff,
            update_file: operationWithDiff,
            delete_file: object(file),
          }),
        },
        { id: itemId, caller, created_by },
      ),
      events: createEvents,
      answer: "apply_patch_call_output",
      toCall: (item) => ({ args: { operations: [item["operation"]] } }),
    },
    apply_patch_call_output: {
      check: object(
        { ...callFields, status: oneOf("completed", "failed") },
        { id: itemId, caller, output: nullable(longText), created_by },
      ),
      toResult: ({ status, output }) =>
        joinParagraphs([`The patch ${status === "failed" ? "failed" : "was applied"}.`, output]),
    },
  },
};

function isOperation(value: unknown): boolean {
  if (!isPlainObject(value) || !isString(value["path"])) return false;
  if (value["type"] === "delete_file") return true;
  const isWriting = value["type"] === "create_file" || value["type"] === "update_file";
  return isWriting && isString(value["diff"]);
}

function createEvents(item: WireItem): LocalToolEvents {
  const events = createNoEvents(item);
  const operation = readRecord(item, "operation");
  if (!("diff" in operation)) return events;
  const diff = readString(operation, "diff");
  return {
    ...events,
    added: { ...events.added, operation: { ...operation, diff: "" } },
    running: createDeltas("response.apply_patch_call_operation_diff", item, diff, { diff }),
  };
}
