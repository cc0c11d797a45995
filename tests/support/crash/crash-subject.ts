import * as z from "zod";
import type { EvaluateOptions, ProviderAdapter } from "../../../src/adapter/provider-adapter.ts";
import { Prompt } from "../../../src/prompt/prompt.ts";
import type { Section } from "../../../src/prompt/section.ts";
import { MarkdownSection } from "../../../src/prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../../src/prompt/template.ts";
import type { CrashChild } from "./crash-child.ts";
import { createCrashTools } from "./crash-tools.ts";

/** An adapter and a prompt for crash tests. Modules in `adapters/` create it. */
export interface CrashSubject {
  readonly adapter: ProviderAdapter;
  readonly prompt: Prompt<unknown>;
  /** More options of the evaluation. */
  readonly options?: EvaluateOptions;
  /** Releases what the subject has opened, after the evaluation. */
  close?(): Promise<void>;
}

/** A module in `adapters/`. */
export interface CrashModule {
  createCrashSubject(child: CrashChild): CrashSubject | Promise<CrashSubject>;
}

/** Creates the prompt of crash tests, with the tools of `createCrashTools` and a structured output. */
export function createCrashPrompt(
  child: CrashChild,
  ...sections: readonly Section[]
): Prompt<unknown> {
  const tools = [...createCrashTools(child)];
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Do it.", tools });
  const output = z.object({ total: z.number() });
  const template = new PromptTemplate({
    ns: "crash",
    key: "run",
    sections: [task, ...sections],
    output,
  });
  return new Prompt(template);
}
