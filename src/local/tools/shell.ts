import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readRecords, readString, readStrings } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ShellRun } from "../sandbox/sandbox.ts";
import { splitIntoChunks } from "../split-into-chunks.ts";
import {
  array,
  integer,
  nullable,
  object,
  oneOf,
  string,
  unionByTag,
} from "../validators/validator.ts";
import { hideContainerSecrets, newContainerFields } from "./container-fields.ts";
import { toInProgress } from "./item-events.ts";
import {
  allowed_callers,
  callFields,
  callOptions,
  created_by,
  longText,
  type,
} from "./item-fields.ts";
import type { LocalToolEvents } from "./local-tool.ts";
import { createObjectSchema, isString, joinParagraphs } from "./object-schema.ts";
import type { ToolRecord } from "./tool-record.ts";

const localSkills = array(object({ name: string(), description: string(), path: string() }), {
  max: 200,
});
const reference = object({ type, container_id: string({ min: 1 }) });
const local = object({ type }, { skills: localSkills });

const containerSkills = array(
  unionByTag({
    skill_reference: object({ type, skill_id: string({ min: 1 }) }, { version: string() }),
    inline: object({
      type,
      name: string(),
      description: string(),
      source: object({
        type: oneOf("base64"),
        media_type: oneOf("application/zip"),
        data: string({ max: 70_254_592 }),
      }),
    }),
  }),
  { max: 200 },
);

const environment = unionByTag({
  container_auto: object({ type }, { ...newContainerFields, skills: containerSkills }),
  container_reference: reference,
  local,
});

const outcome = unionByTag({
  exit: object({ type, exit_code: integer() }),
  timeout: object({ type }),
});

/** Runs commands in a container, or passes them to the client. https://platform.openai.com/docs/guides/tools-shell */
export const shell: ToolRecord = {
  kind: "shell",
  check: object({ type }, { environment: nullable(environment), allowed_callers }),
  containerField: "environment",
  echo(entry, containerId) {
    const isNew = readRecord(entry, "environment")["type"] === "container_auto";
    if (!isNew || containerId === null) return hideContainerSecrets(entry, "environment");
    return { ...entry, environment: { type: "container_reference", container_id: containerId } };
  },

  async run({ entry, args }, { newId, containers, begin }) {
    const commands = readStrings(args, "commands");
    const call = {
      id: newId("sh_"),
      type: "shell_call",
      call_id: newId("call_"),
      status: "completed",
      action: { commands, timeout_ms: null, max_output_length: null },
    };
    const { environment: place } = entry;
    if (!isPlainObject(place) || place["type"] === "local")
      return [{ ...call, environment: { type: "local" } }];
    const containerId = await containers.resolve(place);
    const environment = { type: "container_reference", container_id: containerId };
    await begin({ ...call, environment });
    const output: object[] = [];
    for (const command of commands)
      output.push(toOutput(await containers.shell(containerId, command)));
    return [
      { ...call, environment },
      {
        id: newId("sho_"),
        type: "shell_call_output",
        call_id: call.call_id,
        status: "completed",
        max_output_length: null,
        output,
      },
    ];
  },

  shorthand: {
    key: "shell",
    fromAction: (action) =>
      "shell" in action ? { args: { commands: action.shell }, did: "ran commands" } : null,
    toAction: (args) => ({ shell: readStrings(args, "commands") }),
  },
  echoArgs: () => ({ commands: ["true"] }),
  functions: [
    {
      name: "shell",
      description: "Runs shell commands one after the other and returns the output of each.",
      parameters: createObjectSchema({
        commands: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          description: "The commands to run.",
        },
      }),
      read({ commands }) {
        const all = isString(commands) ? [commands] : commands; // models often pass a single string
        return Array.isArray(all) && all.length > 0 && all.every(isString)
          ? { commands: all }
          : null;
      },
    },
  ],

  items: {
    shell_call: {
      check: object(
        {
          ...callFields,
          action: object(
            { commands: array(string()) },
            { timeout_ms: nullable(integer()), max_output_length: nullable(integer()) },
          ),
        },
        {
          ...callOptions,
          environment: nullable(unionByTag({ local, container_reference: reference })),
        },
      ),
      events: createCallEvents,
      answer: "shell_call_output",
      needsAnswer: (item) => readRecord(item, "environment")["type"] !== "container_reference",
      toCall: (item) => ({ args: { commands: readRecord(item, "action")["commands"] } }),
      containerAt: ["environment", "container_id"],
    },
    shell_call_output: {
      check: object(
        {
          ...callFields,
          output: array(object({ stdout: longText, stderr: longText, outcome }, { created_by })),
        },
        { ...callOptions, max_output_length: nullable(integer()) },
      ),
      events: createOutputEvents,
      toResult: (item) => joinParagraphs(readRecords(item, "output").map(describeOutput)),
    },
  },
};

function toOutput({ stdout, stderr, exitCode }: ShellRun): object {
  const end = exitCode === null ? { type: "timeout" } : { type: "exit", exit_code: exitCode };
  return { stdout, stderr, outcome: end };
}

function createCallEvents(item: WireItem): LocalToolEvents {
  const action = readRecord(item, "action");
  const { commands } = action;
  const all = Array.isArray(commands) ? commands.map(String) : [];
  return {
    added: { ...toInProgress(item), action: { ...action, commands: [] } },
    running: all.flatMap((command, command_index) => {
      const name = "response.shell_call_command";
      return [
        { type: `${name}.added`, command_index, command: "" },
        ...splitIntoChunks(command).map((delta) => ({
          type: `${name}.delta`,
          command_index,
          delta,
        })),
        { type: `${name}.done`, command_index, command },
      ];
    }),
    finished: [],
  };
}

/** Creates one entry per command. The item is `completed` from its first event on. */
function createOutputEvents(item: WireItem): LocalToolEvents {
  const name = "response.shell_call_output_content";
  const { output } = item;
  const entries: readonly unknown[] = Array.isArray(output) ? output : [];
  const running = entries.flatMap((entry, command_index) => {
    const place = { item_id: item["id"], command_index };
    const streams = ["stdout", "stderr"].flatMap((key) => {
      const printed = isPlainObject(entry) ? readString(entry, key) : "";
      return splitIntoChunks(printed).map((part) => ({
        type: `${name}.delta`,
        ...place,
        delta: { [key]: part },
      }));
    });
    return [...streams, { type: `${name}.done`, ...place, output: [entry] }];
  });
  return { added: { ...item, output: [] }, running, finished: [] };
}

function describeOutput(output: WireItem): string {
  const { stdout, stderr } = output;
  const { type: how, exit_code: code } = readRecord(output, "outcome");
  const end = how === "timeout" ? "It timed out and was stopped." : `Exit code: ${code}`;
  const parts = [stdout, stderr && `stderr:\n${stderr}`, end];
  return parts.filter((part) => isString(part) && part !== "").join("\n");
}
