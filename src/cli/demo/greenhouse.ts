import { jsonSchema } from "../../base/schema/json-schema.ts";
import { OpenAIApplyPatchSection } from "../../openai/sections/apply-patch-section.ts";
import { OpenAIContainerWorkspaceSection } from "../../openai/workspace/container-workspace-section.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { WebSearchSection } from "../../prompt/sections/web-search-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice } from "../../session/define-slice.ts";
import type { Session } from "../../session/session.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
  interface EventMap {
    VentMoved: { readonly type: "VentMoved"; readonly percent: number };
  }
}

/** How far the vents are open. A failed call leaves them unchanged. */
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
      ? ToolResult.error(`The vents jammed on the way to ${percent} %. They open to 100 % at most.`)
      : ToolResult.ok({ percent }, `The vents are ${percent} % open.`);
  },
});

const report = new Tool({
  name: "report",
  description: "Replaces the night's report.",
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
      : ToolResult.error("A report must be signed, and this one has already replaced the log.");
  },
});

/** Path of the repository in the workspace. */
const MOUNTED = "greenhouse";

/** File with the log of the greenhouse's nights. */
export const LOG = `${MOUNTED}/night-log.md`;

/** Options of the demo's workspace. */
export interface GreenhouseWorkspaceOptions {
  readonly session: Session;
  /** Folder with the greenhouse's files; never changed. */
  readonly repository: string;
  /** Folder to which the files are copied back. */
  readonly syncDestination: string;
  /**
   * Whether Python can unpack the files in the container. Otherwise they are uploaded one by one.
   */
  readonly hasPython: boolean;
}

/**
 * Creates a workspace with the greenhouse's files, which are fetched after every turn that ran
 * code.
 */
export function createGreenhouseWorkspace({
  session,
  repository,
  syncDestination,
  hasPython,
}: GreenhouseWorkspaceOptions) {
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

/** The answer of the demo's agent. */
interface NightReport {
  readonly ventPercent: number;
  readonly fault: string;
  readonly plan: string;
  readonly wakeGardener: boolean;
}

/** Creates the agent of the demo, with its params bound. */
export function createGreenhousePrompt(workspace: OpenAIContainerWorkspaceSection) {
  const template = new PromptTemplate({
    ns: "demo",
    key: "greenhouse",
    sections: [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: `
        You run the greenhouse in $place overnight, without supervision.
Review vents.py with the evening's readings, set the vents to the correct opening, and fix it.
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
        template: `Keep ${LOG} up to date.`,
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
        wakeGardener: { type: "boolean" },
      },
      required: ["ventPercent", "fault", "plan", "wakeGardener"],
      additionalProperties: false,
    }),
  });
  return new Prompt(template).bind({ place: "Leiden" });
}
