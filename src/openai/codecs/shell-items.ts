import { itemsOfType, numberAt, recordAt, recordsAt, textAt, textsAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import type {
  ShellCall,
  ShellConfig,
  ShellOutcome,
  ShellOutput,
} from "../../tools/hosted/shell.ts";
import type { WireItem, WireShellOutput } from "../wire.ts";
import { callIdOf, onlySet } from "./codec-parts.ts";

/** Commands that the model asked for, and what they gave if that is known. */
export interface ShellItem {
  readonly item: WireItem;
  readonly call: ShellCall;
  /** Its output is among the items. */
  readonly isAnswered: boolean;
}

/** All calls among `items`, each with its output: the provider's, or our own answer. */
export function shellItems(items: readonly WireItem[]): readonly ShellItem[] {
  const outputs = new Map(
    itemsOfType(items, "shell_call_output").map((output) => [callIdOf(output), output]),
  );
  return itemsOfType(items, "shell_call").map((item) => {
    const callId = callIdOf(item);
    const output = outputs.get(callId);
    const call = {
      callId,
      commands: commandsOf(item),
      outputs: output ? recordsAt(output, "output").map(outputOf) : [],
    };
    return { item, call, isAnswered: output !== undefined };
  });
}

export function commandsOf(item: WireItem): readonly string[] {
  return textsAt(recordAt(item, "action"), "commands");
}

/** The limits that the model set; `null` where it set none. */
export function limitsOf(item: WireItem) {
  const action = recordAt(item, "action");
  return {
    timeoutMs: numberAt(action, "timeout_ms"),
    maxOutputLength: numberAt(action, "max_output_length"),
  };
}

export function shellParams(item: WireItem): object {
  const { timeoutMs, maxOutputLength } = limitsOf(item);
  return onlySet({
    commands: commandsOf(item),
    timeoutMs: timeoutMs ?? undefined,
    maxOutputLength: maxOutputLength ?? undefined,
  });
}

/** Where it ran: as the provider says, else as the tool was told to. */
export function shellContainer(item: WireItem, { environment }: ShellConfig): string | undefined {
  const told = environment?.type === "container" ? environment.containerId : undefined;
  return textAt(recordAt(item, "environment"), "container_id") || told;
}

/** Whether every command went well, and in a word what happened. */
export function verdictOn({ commands, outputs }: ShellCall): {
  readonly success: boolean;
  readonly message: string;
} {
  const failed = outputs.findIndex(({ outcome }) => !isExitZero(outcome));
  const output = outputs[failed];
  if (output === undefined) return { success: true, message: `Ran ${listed(commands)}` };
  const command = show(commands[failed] ?? "a command");
  return { success: false, message: `${command} ${endOf(output)}` };
}

/** As our own answer. What the provider takes of one output is limited, so the rest is left out. */
export function wireOutput({ stdout, stderr, outcome }: ShellOutput): WireShellOutput {
  return {
    stdout: stdout.slice(0, LONGEST_OUTPUT).toWellFormed(),
    stderr: stderr.slice(0, LONGEST_OUTPUT).toWellFormed(),
    outcome:
      outcome.type === "exit" ? { type: "exit", exit_code: outcome.exitCode } : { type: "timeout" },
  };
}

const LONGEST_OUTPUT = 10_485_760;

function outputOf(output: WireItem): ShellOutput {
  return {
    stdout: textAt(output, "stdout"),
    stderr: textAt(output, "stderr"),
    outcome: outcomeOf(recordAt(output, "outcome")),
  };
}

/** An end of which nothing is said is no success. */
function outcomeOf(outcome: WireItem): ShellOutcome {
  if (outcome["type"] === "timeout") return { type: "timeout" };
  return { type: "exit", exitCode: numberAt(outcome, "exit_code") ?? 1 };
}

function isExitZero(outcome: ShellOutcome): boolean {
  return outcome.type === "exit" && outcome.exitCode === 0;
}

function listed(commands: readonly string[]): string {
  return commands.length === 0 ? "no command" : commands.map((command) => show(command)).join(", ");
}

function endOf({ outcome, stderr }: ShellOutput): string {
  if (outcome.type === "timeout") return "timed out";
  const end = `exited with code ${outcome.exitCode}`;
  const complaint = stderr.trimEnd();
  return complaint === ""
    ? end
    : `${end}: ${show(complaint.slice(complaint.lastIndexOf("\n") + 1))}`;
}
