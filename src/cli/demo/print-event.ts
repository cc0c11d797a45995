import { styleText } from "node:util";
import type { ToolInvoked } from "../../adapter/events.ts";
import { defaultPrices } from "../../base/costs/default-prices.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { BusEvent } from "../../session/event-map.ts";
import type { Citation } from "../../tools/hosted/citation.ts";

export type Print = (line: string) => void;

/** Prints an event for people to read. */
export function printEvent(event: BusEvent, print: Print): void {
  switch (event.type) {
    case "PromptRendered":
      print(bold("Prompt sent to the model"));
      for (const line of event.text.split("\n")) print(`  ${dim("│")} ${line}`);
      print(`  ${dim("local tools:")} ${event.tools.map(({ name }) => name).join(", ")}`);
      print(`  ${dim("hosted tools:")} ${event.hostedTools.map(({ name }) => name).join(", ")}`);
      break;
    case "TurnStarted":
      print("");
      print(bold(`Turn ${event.turn}`));
      break;
    case "ToolInvoked":
      printCall(event, print);
      break;
    case "TurnCompleted":
      if (event.text === "") break;
      print(event.toolCalls.length > 0 ? `  the model says: ${event.text}` : "  the model answers");
      break;
    case "ContainerReplaced":
      print(`  ${red("✗")} container ${event.containerId} was lost: ${event.reason}`);
      print(
        `  ${green("✓")} replaced by ${event.replacedBy}, with ${event.restored} files restored`,
      );
      print(`    lost: ${event.lost.join("; ")}`);
      break;
    case "HistoryRepaired":
      print(`    removed from the conversation because ${event.reason}:`);
      for (const { type, id } of event.dropped) print(`    - ${type} ${dim(id ?? "")}`);
      break;
  }
}

/** Prints the mounted files before they are copied. */
export function printMounts(previews: readonly HostMountPreview[], print: Print): void {
  for (const { mountPath, files, bytes, entries, withheld } of previews) {
    print(bold(`Mounted as ${mountPath}: ${files} files, ${bytes} bytes`));
    for (const path of entries) print(`  ${path}`);
    for (const path of withheld) print(`  ${dim(`withheld: ${path}`)}`);
  }
  print("");
}

/** Prints the synced files, and how they differ from the mounted ones. */
export function printSync(report: SyncReport, print: Print): void {
  const { added, changed, deleted, failed, conflicts } = report;
  print("");
  print(bold("Synced files"));
  for (const path of added) print(`  added ${path}`);
  for (const path of changed) print(`  changed ${path}`);
  for (const path of deleted) print(`  deleted ${path}`);
  for (const { path, reason } of [...conflicts, ...failed])
    print(`  ${red("✗")} ${path}: ${reason}`);
}

/** Prints the answer field by field, and the token usage. */
export function printAnswer(output: object, usage: TokenUsage, turns: number, print: Print): void {
  print("");
  print(bold("Answer, validated against its schema"));
  for (const [name, value] of Object.entries(output)) print(`  ${dim(`${name}:`)} ${value}`);
  print("");
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = usage;
  print(
    dim(
      `${turns} turns, ${inputTokens} input tokens (${cachedTokens} cached), ${outputTokens} output tokens (${reasoningTokens} reasoning)`,
    ),
  );
}

/** Prints the cost that the tokens and hosted calls would have on a model, and the date of its price. */
export function printCost({ usd, model, maxUsd }: DemoCost, print: Print): void {
  const total = usd === undefined ? "an unknown amount" : `$${usd.toFixed(4)}`;
  const limit = `the budget is $${maxUsd.toFixed(2)}`;
  print(dim(`${total} at the prices of ${model} on ${defaultPrices.date}; ${limit}`));
}

/** What the demo would cost on a model with a price. */
export interface DemoCost {
  readonly usd: number | undefined;
  readonly model: string;
  readonly maxUsd: number;
}

/** Prints the citations of all turns. */
export function printCitations(citations: readonly Citation[], print: Print): void {
  print("");
  print(bold("Citations"));
  for (const citation of citations) {
    if (citation.type === "url") print(`  ${citation.title} ${dim(citation.url)}`);
    else print(`  ${citation.filename} ${dim(`file ${citation.fileId}`)}`);
  }
}

/** Prints a whole file. */
export function printFile(name: string, text: string, print: Print): void {
  print("");
  print(bold(`Final content of ${name}`));
  for (const line of text.trimEnd().split("\n")) print(`  ${dim("│")} ${line}`);
}

/** Returns the claim if it holds, else its negation in red. */
export function describeClaim(isSo: boolean, claim: string): string {
  return isSo ? claim : red(`NOT ${claim}`);
}

function printCall(
  { name, params, result, renderedOutput, origin }: ToolInvoked,
  print: Print,
): void {
  const where = origin ? "at the provider" : "locally";
  const given = Object.entries(isPlainObject(params) ? params : {});
  const [short, long] = [given.filter((entry) => !isLong(entry)), given.filter(isLong)];
  const shown = short.map(([key, value]) => `${key}=${quoteValue(value)} `).join("");
  print(`  ${result.success ? green("✓") : red("✗")} ${name} ${shown}${dim(`ran ${where}`)}`);
  for (const [, text] of long) {
    for (const line of String(text).trimEnd().split("\n")) print(`    ${dim("│")} ${line}`);
  }
  const message = result.message === "OK" ? renderedOutput : result.message;
  for (const line of message.trimEnd().split("\n")) print(`    ${line}`);
}

/** Code and patches are printed below, line by line. */
function isLong([, value]: readonly [string, unknown]): boolean {
  return typeof value === "string" && value.includes("\n");
}

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });
const green = (text: string) => styleText("green", text, { stream: process.stdout });
const red = (text: string) => styleText("red", text, { stream: process.stdout });
