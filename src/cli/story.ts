import { styleText } from "node:util";
import type { ToolInvoked } from "../adapter/events.ts";
import { isPlainObject } from "../base/freeze.ts";
import { show } from "../base/show.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { BusEvent } from "../session/event-bus.ts";

export type Print = (line: string) => void;

/** What happened, for a person to read while it does. */
export function tell(event: BusEvent, print: Print): void {
  switch (event.type) {
    case "PromptRendered":
      print(bold("The prompt, as the model reads it"));
      for (const line of event.text.split("\n")) print(`  ${dim("│")} ${line}`);
      print(`  ${dim("tools here:")} ${event.tools.map(({ name }) => name).join(", ")}`);
      print(
        `  ${dim("tools at the provider:")} ${event.hostedTools.map(({ name }) => name).join(", ")}`,
      );
      break;
    case "TurnStarted":
      print("");
      print(bold(`Turn ${event.turn}`));
      break;
    case "ToolInvoked":
      tellCall(event, print);
      break;
    case "TurnCompleted":
      if (event.toolCalls.length + event.hostedCalls.length === 0) print("  the model answers");
      break;
  }
}

/** How it ended: the answer field by field, and what it took. */
export function tellAnswer(output: object, usage: TokenUsage, turns: number, print: Print): void {
  print("");
  print(bold("The answer, read and checked against its schema"));
  for (const [name, value] of Object.entries(output)) print(`  ${dim(`${name}:`)} ${value}`);
  print("");
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = usage;
  print(
    dim(
      `${turns} turns, ${inputTokens} tokens in (${cachedTokens} of them cached), ${outputTokens} out (${reasoningTokens} on reasoning)`,
    ),
  );
}

function tellCall(
  { name, params, result, renderedOutput, origin }: ToolInvoked,
  print: Print,
): void {
  const where = origin ? `at ${origin.provider}` : "here";
  print(
    `  ${result.success ? green("✓") : red("✗")} ${name} ${argumentsOf(params)} ${dim(`ran ${where}`)}`,
  );
  const shown = result.message === "OK" ? renderedOutput : result.message;
  print(`    ${shown}`);
}

function argumentsOf(params: unknown): string {
  if (!isPlainObject(params)) return "";
  return Object.entries(params)
    .map(([name, value]) => `${name}=${show(value)}`)
    .join(" ");
}

// `styleText` leaves colour out by itself when the stream is no terminal, or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });
const green = (text: string) => styleText("green", text, { stream: process.stdout });
const red = (text: string) => styleText("red", text, { stream: process.stdout });
