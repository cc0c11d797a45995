import { styleText } from "node:util";
import type { ToolInvoked } from "../../adapter/events.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { show } from "../../base/show.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { HostMountPreview } from "../../files/mounts/mount-preview.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import type { BusEvent } from "../../session/event-map.ts";
import type { Citation } from "../../tools/hosted/citation.ts";

export type Print = (line: string) => void;

/** What happened, for a person to read while it does. */
export function tell(event: BusEvent, print: Print): void {
  switch (event.type) {
    case "PromptRendered":
      print(bold("The prompt, as the model reads it"));
      for (const line of event.text.split("\n")) print(`  ${dim("│")} ${line}`);
      print(`  ${dim("tools here:")} ${event.tools.map(({ name }) => name).join(", ")}`);
      print(`  ${dim("hosted tools:")} ${event.hostedTools.map(({ name }) => name).join(", ")}`);
      break;
    case "TurnStarted":
      print("");
      print(bold(`Turn ${event.turn}`));
      break;
    case "ToolInvoked":
      tellCall(event, print);
      break;
    case "TurnCompleted":
      if (event.text === "") break;
      print(event.toolCalls.length > 0 ? `  the model says: ${event.text}` : "  the model answers");
      break;
    case "ContainerReplaced":
      print(`  ${red("✗")} the container ${event.containerId} is gone: ${event.reason}`);
      print(`  ${green("✓")} ${event.replacedBy} takes its place, with ${event.restored} files`);
      print(`    lost: ${event.lost.join("; ")}`);
      break;
    case "HistoryRepaired":
      print(`    left out of the conversation, because ${event.reason}:`);
      for (const { type, id } of event.dropped) print(`    - ${type} ${dim(id ?? "")}`);
      break;
  }
}

/** What is mounted, before anything is copied. */
export function tellMount(previews: readonly HostMountPreview[], print: Print): void {
  for (const { mountPath, files, bytes, entries, withheld } of previews) {
    print(bold(`Mounted as ${mountPath}: ${files} files, ${bytes} bytes`));
    for (const path of entries) print(`  ${path}`);
    for (const path of withheld) print(`  ${dim(`withheld: ${path}`)}`);
  }
  print("");
}

/** What was brought back, and how it differs from what was mounted. */
export function tellSync({ added, changed, deleted, failed }: SyncReport, print: Print): void {
  print("");
  print(bold("The workspace, brought back"));
  for (const path of added) print(`  added ${path}`);
  for (const path of changed) print(`  changed ${path}`);
  for (const path of deleted) print(`  deleted ${path}`);
  for (const { path, reason } of failed) print(`  ${red("✗")} ${path}: ${reason}`);
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

/** What the answer, and what was said on the way, rests on. */
export function tellCitations(citations: readonly Citation[], print: Print): void {
  print("");
  print(bold("What it cites"));
  for (const citation of citations) {
    if (citation.type === "url") print(`  ${citation.title} ${dim(citation.url)}`);
    else print(`  ${citation.filename} ${dim(`file ${citation.fileId}`)}`);
  }
}

/** A file, whole. */
export function tellFile(name: string, text: string, print: Print): void {
  print("");
  print(bold(`${name}, at the end`));
  for (const line of text.trimEnd().split("\n")) print(`  ${dim("│")} ${line}`);
}

/** What was looked up: a claim, or loudly its opposite. */
export function whether(isSo: boolean, claim: string): string {
  return isSo ? claim : red(`NOT ${claim}`);
}

function tellCall(
  { name, params, result, renderedOutput, origin }: ToolInvoked,
  print: Print,
): void {
  const where = origin ? "at the provider" : "here";
  const given = Object.entries(isPlainObject(params) ? params : {});
  const [short, long] = [given.filter((entry) => !isLong(entry)), given.filter(isLong)];
  const shown = short.map(([key, value]) => `${key}=${show(value)} `).join("");
  print(`  ${result.success ? green("✓") : red("✗")} ${name} ${shown}${dim(`ran ${where}`)}`);
  for (const [, text] of long) {
    for (const line of String(text).trimEnd().split("\n")) print(`    ${dim("│")} ${line}`);
  }
  const message = result.message === "OK" ? renderedOutput : result.message;
  for (const line of message.trimEnd().split("\n")) print(`    ${line}`);
}

/** Code and patches are read as they were written. */
function isLong([, value]: readonly [string, unknown]): boolean {
  return typeof value === "string" && value.includes("\n");
}

// `styleText` leaves colour out by itself when the stream is no terminal, or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
const dim = (text: string) => styleText("dim", text, { stream: process.stdout });
const green = (text: string) => styleText("green", text, { stream: process.stdout });
const red = (text: string) => styleText("red", text, { stream: process.stdout });
