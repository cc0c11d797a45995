import { type ComponentChild, h } from "preact";
import { isPlainObject } from "../../../base/freeze.ts";
import {
  parseJson,
  readNumber,
  readRecord,
  readRecords,
  readString,
  type UnknownRecord,
} from "../../../base/json.ts";
import type { Entry } from "../../entry.ts";
import { formatCount, formatDuration } from "../../view/format.ts";
import { renderBlock, renderDiff, renderFacts, renderText } from "./blocks.ts";
import { JsonView } from "./json-view.ts";

/** Renders a call: its params, the place where it ran, and its result. */
export function renderCall(entry: Entry, events: readonly UnknownRecord[]): ComponentChild {
  const invoked = events.find((event) => event["type"] === "ToolInvoked");
  const planned = findPlanned(entry, events);
  const params = invoked ? invoked["params"] : parseArguments(planned);
  const result = readRecord(invoked ?? {}, "result");
  const rejected = isPlainObject(params) && params["rejected"] === true ? params : null;
  const given = rejected ? rejected["given"] : params;
  const origin = readRecord(invoked ?? {}, "origin");
  const duration = readNumber(invoked ?? {}, "durationMs");
  const tokens = readNumber(readRecord(invoked ?? {}, "usage"), "totalTokens");
  return h("div", null, [
    renderFacts([
      [
        "Outcome",
        invoked ? (result["success"] === true ? "succeeded" : "failed") : "no result is recorded",
      ],
      ["Ran", describePlace(origin, invoked !== undefined)],
      ["Kind", readString(origin, "capability") || readString(planned, "kind")],
      ["Container", readString(origin, "containerId")],
      ["Duration", duration === null ? "part of the turn" : formatDuration(duration)],
      ["Tokens of its turn", tokens === null ? null : formatCount(tokens)],
      ["Call id", readString(invoked ?? planned, "callId")],
    ]),
    rejected &&
      renderBlock("Rejected params", renderText(readString(rejected, "problem"), "prose is-bad")),
    renderBlock(
      "Message to the model",
      renderText(
        readString(result, "message"),
        result["success"] === true ? "prose" : "prose is-bad",
      ),
    ),
    invoked && result["success"] !== true && entry.place === "here" && renderRolledBack(),
    renderBlock("Params", renderParams(given)),
    renderBlock(
      "Result",
      renderResult(result["value"], readString(invoked ?? {}, "renderedOutput")),
    ),
  ]);
}

function renderRolledBack(): ComponentChild {
  const text =
    "A failed call is rolled back: the session's state, resources with snapshots, and workspace files are as before it.";
  return h("p", { class: "notice" }, text);
}

function findPlanned(entry: Entry, events: readonly UnknownRecord[]): UnknownRecord {
  const turn = events.find((event) => event["type"] === "TurnCompleted");
  if (!turn) return {};
  const calls = ["hostedCalls", "delegatedCalls", "toolCalls"].flatMap((key) =>
    readRecords(turn, key),
  );
  const index = Number(entry.key.split(".").at(-1)) - 1;
  return calls[index] ?? {};
}

function parseArguments(planned: UnknownRecord): unknown {
  const text = planned["arguments"];
  if (typeof text !== "string") return planned["params"];
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function describePlace(origin: UnknownRecord, isDone: boolean): string {
  const provider = readString(origin, "provider");
  if (provider !== "") return `at ${provider}`;
  return isDone ? "locally, in the process of the agent" : "";
}

/** Long texts, such as code, and diffs are shown as such; everything else is JSON. */
function renderParams(params: unknown): ComponentChild {
  if (params === undefined || params === null) return null;
  if (!isPlainObject(params)) return h(JsonView, { value: params });
  const texts = Object.entries(params).filter(([, value]) => isLongText(value));
  const rest = Object.fromEntries(Object.entries(params).filter(([, value]) => !isLongText(value)));
  return h("div", null, [
    Object.keys(rest).length > 0 && h(JsonView, { value: rest, open: 3 }),
    texts.map(([name, value]) =>
      h(
        "div",
        { key: name },
        h("h4", null, name),
        isDiff(name, String(value)) ? renderDiff(String(value)) : renderText(String(value), "code"),
      ),
    ),
  ]);
}

function renderResult(value: unknown, rendered: string): ComponentChild {
  if (value === null || value === undefined) return renderText(rendered, "code");
  if (typeof value === "string") return renderText(value, "code");
  return h("div", null, h(JsonView, { value, open: 3 }));
}

function isLongText(value: unknown): boolean {
  return typeof value === "string" && value.includes("\n");
}

function isDiff(name: string, text: string): boolean {
  return (
    name === "diff" ||
    name === "patch" ||
    /^(?:@@|\*\*\* Begin Patch|--- )/m.test(text.slice(0, 400))
  );
}
