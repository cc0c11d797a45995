import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
import {
  LocalProvider,
  type ModelAction,
  type ModelRequest,
  scriptedModel,
} from "weakincentives/local";
import { OpenAIAdapter, OpenAICodeInterpreterSection } from "weakincentives/openai";

/** The agent behind the page. The user's messages are its `input`. */
export const assistant = new Prompt(
  new PromptTemplate({
    ns: "examples",
    key: "assistant",
    sections: [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Answer the user's questions. Compute with Python instead of guessing.",
      }),
      new OpenAICodeInterpreterSection({ key: "python" }),
    ],
  }),
);

/**
 * A scripted model on this machine answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY, and
 * OPENAI_MODEL for another model.
 */
export function createAdapter(): { adapter: OpenAIAdapter; provider: LocalProvider } {
  const provider = new LocalProvider({ model: demoModel });
  const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
  const model = process.env["OPENAI_MODEL"] ?? "gpt-5.2";
  return { adapter: new OpenAIAdapter({ model, clientConfig }), provider };
}

/** Adds numbers with Python, and otherwise repeats the message. */
const demoModel = scriptedModel(({ items, text }: ModelRequest): readonly ModelAction[] => {
  const last = Object(items.at(-1));
  if (last.type === "code_interpreter_call")
    return [{ say: `Python says: ${String(last.outputs?.[0]?.logs).trim()}`, everyMs: 40 }];
  const numbers = text.match(/\d+/g);
  if (numbers) return [{ code: `print(${numbers.join(" + ")})` }];
  return [{ say: `You said: “${text}” Write some numbers and I add them.`, everyMs: 40 }];
});
