import { OpenAIAdapter } from "../../../../src/openai/adapter.ts";
import type { CrashChild } from "../crash-child.ts";
import { type CrashSubject, createCrashPrompt } from "../crash-subject.ts";

/** OpenAI's adapter with `delivery: "background"`, on the provider whose address is the detail `url`. */
export function createCrashSubject(child: CrashChild): CrashSubject {
  const clientConfig = { baseURL: child.details["url"], apiKey: "local" };
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", delivery: "background", clientConfig });
  return { adapter, prompt: createCrashPrompt(child) };
}
