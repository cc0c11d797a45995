import type { PromptFailed, ToolInvoked, TurnCompleted } from "../../adapter/events.ts";
import type { FollowedEvent } from "../../fleet/watch/follow-run.ts";
import { formatDuration } from "../format-duration.ts";
import { pluralize } from "../pluralize.ts";
import { style } from "../style.ts";
import { toJsonLine, toLine } from "../to-line.ts";

/** Formats an event of a run as one line, with its time. */
export function formatEvent(event: FollowedEvent): string {
  const time = "createdAt" in event ? toTime(event.createdAt) : "        ";
  return `${style.dim(time)} ${describeEvent(event)}`;
}

function describeEvent(event: FollowedEvent): string {
  switch (event.type) {
    case "EvaluationStarted":
      return event.isResumed ? "the evaluation continues" : "the evaluation starts";
    case "PromptRendered":
      return `prompt ${toLine(event.promptName)}: ${pluralize(event.text.length, "character")}, ${pluralize(event.tools.length + event.hostedTools.length, "tool")}`;
    case "TurnCompleted":
      return describeTurn(event);
    case "ToolStarted":
      return `  ${toLine(event.name)} starts`;
    case "ToolInvoked":
      return describeCall(event);
    case "PromptExecuted":
      return `${style.green("answer")} after ${pluralize(event.turns, "turn")}`;
    case "PromptFailed":
      return describeEnd(event);
    default:
      return describeOther(event);
  }
}

function describeTurn({ turn, text, toolCalls, hostedCalls, usage, durationMs }: TurnCompleted) {
  const names = [...toolCalls, ...hostedCalls].map(({ name }) => name);
  const calls = names.length === 0 ? "" : ` calls ${toLine(names.join(", "))}`;
  const says = text.trim() === "" ? "" : ` ${toLine(text, MAX_TEXT)}`;
  const cost = `${usage.inputTokens}+${usage.outputTokens} tokens, ${formatDuration(durationMs)}`;
  return `${style.bold(`turn ${turn}`)}${calls} ${style.dim(cost)}${says}`;
}

function describeCall({ name, params, result, renderedOutput, durationMs }: ToolInvoked): string {
  const mark = result.success ? style.green("✓") : style.red("✗");
  const text = result.message === "OK" ? renderedOutput : result.message;
  const took = durationMs === null ? "" : ` ${style.dim(formatDuration(durationMs))}`;
  const given = toJsonLine(params, MAX_PARAMS);
  return `  ${mark} ${toLine(name)} ${given}${took} ${toLine(text, MAX_TEXT)}`.trimEnd();
}

/** A run that is parked has no error: `show` lists the calls that it waits for. */
function describeEnd({ errorName, message }: PromptFailed): string {
  if (errorName === "EvaluationParkedError") return style.yellow("parked until calls are decided");
  return `${style.red("stopped")} ${toLine(`${errorName}: ${message}`, MAX_TEXT)}`;
}

/** Fields that every event has, or that name the run. */
const COMMON = new Set(["type", "sessionId", "promptName", "adapter", "createdAt", "position"]);

function describeOther(event: FollowedEvent): string {
  const fields = Object.entries(event).filter(([name]) => !COMMON.has(name));
  const shown = fields.length === 0 ? "" : ` ${toJsonLine(Object.fromEntries(fields), MAX_TEXT)}`;
  return `${toLine(event.type)}${style.dim(shown)}`;
}

const MAX_TEXT = 100;
const MAX_PARAMS = 60;

/** Returns the time of day in UTC. */
function toTime(createdAt: unknown): string {
  return String(createdAt).slice(11, 19);
}
