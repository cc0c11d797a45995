import * as z from "zod";
import type { Filesystem } from "../files/filesystem.ts";
import { OpenAIApplyPatchSection } from "../openai/sections/apply-patch-section.ts";
import { MarkdownSection } from "../prompt/markdown-section.ts";
import { Prompt } from "../prompt/prompt.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { VfsToolsSection } from "../prompt/vfs-tools-section.ts";
import { WebSearchSection } from "../prompt/web-search-section.ts";
import { defineSlice } from "../session/slice.ts";
import { codeInterpreterTool } from "../tools/code-interpreter.ts";
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

/** The file in which the greenhouse's nights are written down. */
export const LOG = "night-log.md";

/** What the agent of the demo has at hand. */
export interface Greenhouse {
  /** Where the log is. */
  readonly filesystem: Filesystem;
  /** The sensors' readings, as the provider knows them. */
  readonly readingsFileId: string;
}

/** The agent of the demo, with its params bound. */
export function greenhouse({ filesystem, readingsFileId }: Greenhouse) {
  const python = codeInterpreterTool({ container: { type: "auto", fileIds: [readingsFileId] } });
  const template = new PromptTemplate({
    ns: "demo",
    key: "greenhouse",
    sections: [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: `
        You look after the greenhouse in $place, with nobody else awake.
        Keep it below $limit °C until the morning. The sensors' readings are readings.csv.
      `,
        params: z.object({ place: z.string(), limit: z.number() }),
        defaultParams: { limit: 28 },
        tools: [setVent],
        hostedTools: [python],
      }),
      new WebSearchSection({ domainFilter: { allowed: ["weather.example"] } }),
      new VfsToolsSection({ filesystem, readOnly: true }),
      new MarkdownSection({
        key: "log",
        title: "Log",
        template: `Keep ${LOG} true.`,
        tools: [report],
      }),
      new OpenAIApplyPatchSection({ filesystem }),
    ],
    output: z.object({ ventPercent: z.number(), reason: z.string(), wakeSomebody: z.boolean() }),
  });
  return new Prompt(template).bind({ place: "Leiden" });
}
