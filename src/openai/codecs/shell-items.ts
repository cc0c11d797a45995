import {
  filterByType,
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStrings,
} from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type {
  ShellCall,
  ShellConfig,
  ShellOutcome,
  ShellOutput,
} from "../../tools/hosted/shell.ts";
import type { WireItem, WireShellOutput } from "../wire.ts";
import { getCallId, omitUndefined } from "./codec-call.ts";

/** A shell call with its outputs, if they are known. */
export interface ShellItem {
  readonly item: WireItem;
  readonly call: ShellCall;
  /** Whether the items contain the call's output. */
  readonly isAnswered: boolean;
}

/** Finds all shell calls in `items`, each with its output: the provider's or this package's. */
export function findShellItems(items: readonly WireItem[]): readonly ShellItem[] {
  const outputs = new Map(
    filterByType(items, "shell_call_output").map((output) => [getCallId(output), output]),
  );
  return filterByType(items, "shell_call").map((item) => {
    const callId = getCallId(item);
    const output = outputs.get(callId);
    const call = {
      callId,
      commands: readCommands(item),
      outputs: output ? readRecords(output, "output").map(parseShellOutput) : [],
    };
    return { item, call, isAnswered: output !== undefined };
  });
}

/** Reads a call's commands. */
export function readCommands(item: WireItem): readonly string[] {
  return readStrings(readRecord(item, "action"), "commands");
}

/** Reads the limits that the model set; `null` for each that it did not set. */
export function readLimits(item: WireItem) {
  const action = readRecord(item, "action");
  return {
    timeoutMs: readNumber(action, "timeout_ms"),
    maxOutputLength: readNumber(action, "max_output_length"),
  };
}

/** Reads a call's params: its commands and limits. */
export function readShellParams(item: WireItem): object {
  const { timeoutMs, maxOutputLength } = readLimits(item);
  return omitUndefined({
    commands: readCommands(item),
    timeoutMs: timeoutMs ?? undefined,
    maxOutputLength: maxOutputLength ?? undefined,
  });
}

/** Finds the container that ran a call: as the provider reports it, otherwise from the config. */
export function findShellContainer(
  item: WireItem,
  { environment }: ShellConfig,
): string | undefined {
  const configured = environment?.type === "container" ? environment.containerId : undefined;
  return readString(readRecord(item, "environment"), "container_id") || configured;
}

/** Reports whether every command succeeded, with a short message. */
export function summarizeShellCall({ commands, outputs }: ShellCall): {
  readonly success: boolean;
  readonly message: string;
} {
  const failed = outputs.findIndex(({ outcome }) => !isExitZero(outcome));
  const output = outputs[failed];
  if (output === undefined) return { success: true, message: `Ran ${formatCommands(commands)}` };
  const command = quoteValue(commands[failed] ?? "a command");
  return { success: false, message: `${command} ${describeEnd(output)}` };
}

/** Converts an output to the API's format. Truncates it to the provider's limit. */
export function toWireOutput({ stdout, stderr, outcome }: ShellOutput): WireShellOutput {
  return {
    stdout: stdout.slice(0, MAX_OUTPUT_LENGTH).toWellFormed(),
    stderr: stderr.slice(0, MAX_OUTPUT_LENGTH).toWellFormed(),
    outcome:
      outcome.type === "exit" ? { type: "exit", exit_code: outcome.exitCode } : { type: "timeout" },
  };
}

const MAX_OUTPUT_LENGTH = 10_485_760;

function parseShellOutput(output: WireItem): ShellOutput {
  return {
    stdout: readString(output, "stdout"),
    stderr: readString(output, "stderr"),
    outcome: parseWireOutcome(readRecord(output, "outcome")),
  };
}

/** Parses an outcome. A missing exit code counts as a failure. */
function parseWireOutcome(outcome: WireItem): ShellOutcome {
  if (outcome["type"] === "timeout") return { type: "timeout" };
  return { type: "exit", exitCode: readNumber(outcome, "exit_code") ?? 1 };
}

function isExitZero(outcome: ShellOutcome): boolean {
  return outcome.type === "exit" && outcome.exitCode === 0;
}

function formatCommands(commands: readonly string[]): string {
  return commands.length === 0
    ? "no command"
    : commands.map((command) => quoteValue(command)).join(", ");
}

function describeEnd({ outcome, stderr }: ShellOutput): string {
  if (outcome.type === "timeout") return "timed out";
  const end = `exited with code ${outcome.exitCode}`;
  const complaint = stderr.trimEnd();
  return complaint === ""
    ? end
    : `${end}: ${quoteValue(complaint.slice(complaint.lastIndexOf("\n") + 1))}`;
}
