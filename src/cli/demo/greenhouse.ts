import { jsonSchema } from "../../base/schema/json-schema.ts";
import { OpenAIApplyPatchSection } from "../../openai/sections/apply-patch-section.ts";
import { OpenAIContainerWorkspaceSection } from "../../openai/workspace/container-workspace-section.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { WebSearchSection } from "../../prompt/sections/web-search-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import type { Session } from "../../session/session.ts";
import { defineSlice } from "../../session/slice.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
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
  params: jsonSchema<{ percent: number }>({
    type: "object",
    properties: { percent: { type: "number" } },
    required: ["percent"],
    additionalProperties: false,
  }),
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
  params: jsonSchema<{ text: string }>({
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  }),
  handler: async ({ text }, { filesystem }) => {
    await filesystem?.writeText(LOG, `${text}\n`);
    return text.includes("signed")
      ? ToolResult.ok(null, "Reported.")
      : ToolResult.error(
          "A report must be signed, and this one has taken the log's place already.",
        );
  },
});

/** Where the repository is in the workspace. */
const MOUNTED = "greenhouse";

/** The file in which the greenhouse's nights are written down. */
export const LOG = `${MOUNTED}/night-log.md`;

/** What the workspace of the demo is made from. */
export interface GreenhouseFiles {
  readonly session: Session;
  /** The folder with the greenhouse's files; it stays as it is. */
  readonly repository: string;
  /** Where the files are brought back to. */
  readonly syncDestination: string;
  /** Whether Python can unpack the files in the container; otherwise they are uploaded one by one. */
  readonly hasPython: boolean;
}

/** The greenhouse's files in a container, fetched after every turn in which code ran. */
export function greenhouseFiles({
  session,
  repository,
  syncDestination,
  hasPython,
}: GreenhouseFiles) {
  return new OpenAIContainerWorkspaceSection({
    session,
    mounts: [{ hostPath: repository, mountPath: MOUNTED }],
    allowedHostRoots: [repository],
    syncOnCleanup: true,
    syncPolicy: "eachTurn",
    syncDestination,
    unpack: hasPython ? "bootstrap" : "files",
  });
}

/** What the agent of the demo answers with. */
interface NightReport {
  readonly ventPercent: number;
  readonly fault: string;
  readonly plan: string;
  readonly wakeSomebody: boolean;
}

/** The agent of the demo, with its params bound. */
export function greenhouse(workspace: OpenAIContainerWorkspaceSection) {
  const template = new PromptTemplate({
    ns: "demo",
    key: "greenhouse",
    sections: [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: `
        You look after the greenhouse in $place, with nobody else awake.
        Review vents.py on the evening's readings, set the vents as it should say, and mend it.
      `,
        params: jsonSchema<{ place: string }>({
          type: "object",
          properties: { place: { type: "string" } },
          required: ["place"],
        }),
        tools: [setVent],
        hostedTools: [codeInterpreterTool()],
      }),
      workspace,
      new WebSearchSection({ domainFilter: { allowed: ["weather.example"] } }),
      new MarkdownSection({
        key: "log",
        title: "Log",
        template: `Keep ${LOG} true.`,
        tools: [report],
      }),
      new OpenAIApplyPatchSection({ filesystem: workspace.filesystem }),
    ],
    output: jsonSchema<NightReport>({
      type: "object",
      properties: {
        ventPercent: { type: "number" },
        fault: { type: "string" },
        plan: { type: "string" },
        wakeSomebody: { type: "boolean" },
      },
      required: ["ventPercent", "fault", "plan", "wakeSomebody"],
      additionalProperties: false,
    }),
  });
  return new Prompt(template).bind({ place: "Leiden" });
}
