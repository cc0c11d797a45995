import * as z from "zod";
import type { Filesystem } from "../files/filesystem.ts";
import { MarkdownSection } from "../prompt/markdown-section.ts";
import { Prompt } from "../prompt/prompt.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { VfsToolsSection } from "../prompt/vfs-tools-section.ts";
import { WebSearchSection } from "../prompt/web-search-section.ts";
import { defineSlice } from "../session/slice.ts";
import { type ScriptedClient, scriptedClient } from "../testing/scripted-client.ts";
import { applyPatch } from "../tools/patch.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

declare module "../session/event-bus.ts" {
  interface EventMap {
    VentMoved: { readonly type: "VentMoved"; readonly percent: number };
  }
}

/** How far the vents are open; a call that fails leaves them where they were. */
export const vents = defineSlice("greenhouse.vents", {
  initial: { percent: 20 },
  on: { VentMoved: (_before, { percent }) => ({ percent }) },
});

const readSensor = new Tool({
  name: "read_sensor",
  description: "Reads a sensor of the greenhouse.",
  params: z.object({ sensor: z.enum(["temperature", "humidity"]) }),
  result: z.object({ sensor: z.string(), value: z.number(), unit: z.string() }),
  handler: ({ sensor }) =>
    ToolResult.ok(
      sensor === "temperature"
        ? { sensor, value: 31.5, unit: "°C" }
        : { sensor, value: 64, unit: "%" },
    ),
  render: ({ value, unit }) => `${value} ${unit}`,
});

const setVent = new Tool({
  name: "set_vent",
  description: "Opens the vents to a percentage.",
  params: z.object({ percent: z.number() }),
  handler: ({ percent }, { session }) => {
    session.dispatch({ type: "VentMoved", percent });
    return percent > 100
      ? ToolResult.error(
          `The vents jammed on their way to ${percent} %: they open to 100 % at most.`,
        )
      : ToolResult.ok({ percent }, `The vents are ${percent} % open.`);
  },
});

const report = new Tool({
  name: "report",
  description: "Writes the night's report, whole.",
  params: z.object({ text: z.string() }),
  handler: async ({ text }, { filesystem }) => {
    await filesystem?.writeText(LOG, `${text}\n`);
    return text.includes("signed")
      ? ToolResult.ok(null, "Reported.")
      : ToolResult.error(
          "A report must be signed, and this one has taken the log's place already.",
        );
  },
});

const amend = new Tool({
  name: "amend",
  description: "Changes the log by a patch.",
  params: z.object({ patch: z.string() }),
  handler: async ({ patch }, { filesystem }) => {
    if (!filesystem) return ToolResult.error("There are no files.");
    const { changed } = await applyPatch(filesystem, patch);
    return ToolResult.ok(null, `Changed ${changed.join(", ")}.`);
  },
});

/** The file in which the greenhouse's nights are written down. */
export const LOG = "night-log.md";

/** What the log says before the night. */
export const LOG_BEFORE = "# Night log\n\n- vents at 20 %\n- nobody woken\n";

/** The agent of the demo, on these files, with its params bound. */
export function greenhouse(filesystem: Filesystem) {
  const template = new PromptTemplate({
    ns: "demo",
    key: "greenhouse",
    sections: [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: `
        You look after the greenhouse in $place, with nobody else awake.
        Keep it below $limit °C until the morning.
      `,
        params: z.object({ place: z.string(), limit: z.number() }),
        defaultParams: { limit: 28 },
        tools: [readSensor, setVent],
      }),
      new WebSearchSection(),
      new VfsToolsSection({ filesystem, readOnly: true }),
      new MarkdownSection({
        key: "log",
        title: "Log",
        template: `Keep ${LOG} true.`,
        tools: [report, amend],
      }),
    ],
    output: z.object({ ventPercent: z.number(), reason: z.string(), wakeSomebody: z.boolean() }),
  });
  return new Prompt(template).bind({ place: "Leiden" });
}

const PATCH = [
  "*** Begin Patch",
  `*** Update File: ${LOG}`,
  "@@",
  "-- vents at 20 %",
  "+- vents at 60 %",
  " - nobody woken",
  "*** End Patch",
].join("\n");

/** What the model of the demo says: a forecast, two mistakes and what it makes of them, an answer. */
export function greenhouseModel(): ScriptedClient {
  const url = "https://weather.example/leiden";
  return scriptedClient(
    {
      hostedCalls: [
        {
          name: "web_search",
          callId: "ws_1",
          message: "Clear, 14 °C by midnight (weather.example).",
          params: { query: "Leiden weather tonight" },
          output: {
            text: "Clear, 14 °C by midnight.",
            citations: [],
            sourceUrls: [url],
            searches: [],
          },
        },
      ],
      toolCalls: [{ name: "read_sensor", arguments: { sensor: "temperature" } }],
      usage: { inputTokens: 812, outputTokens: 61, reasoningTokens: 32 },
    },
    {
      toolCalls: [{ name: "set_vent", arguments: { percent: 140 } }],
      usage: { inputTokens: 934, outputTokens: 22, cachedTokens: 768 },
    },
    {
      toolCalls: [{ name: "set_vent", arguments: { percent: 60 } }],
      usage: { inputTokens: 1_002, outputTokens: 24, cachedTokens: 896 },
    },
    {
      toolCalls: [{ name: "report", arguments: { text: "All is well." } }],
      usage: { inputTokens: 1_071, outputTokens: 31, cachedTokens: 960 },
    },
    {
      toolCalls: [{ name: "amend", arguments: { patch: PATCH } }],
      usage: { inputTokens: 1_140, outputTokens: 74, cachedTokens: 1_024 },
    },
    {
      text: JSON.stringify({
        ventPercent: 60,
        reason: "31.5 °C inside and 14 °C by midnight outside: opening to 60 % is enough.",
        wakeSomebody: false,
      }),
      usage: { inputTokens: 1_236, outputTokens: 58, cachedTokens: 1_088 },
    },
  );
}
