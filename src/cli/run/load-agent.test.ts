import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { AgentLoop } from "../../fleet/loop/agent-loop.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { loadAgent } from "./load-agent.ts";

const SOURCES = join(import.meta.dirname, "../../index.ts");
const FLEET = join(import.meta.dirname, "../../fleet/index.ts");

function write(text: string): string {
  return join(temporaryTree({ "agent.mts": text }), "agent.mts");
}

test("loads a prompt, a template as a prompt, and a loop", async () => {
  const define = `import { definePrompt } from ${JSON.stringify(SOURCES)};
    const prompt = definePrompt({ name: "poet", instructions: "Write." });`;
  const prompt = await loadAgent(write(`${define}\nexport default prompt;`));
  expect(prompt).toMatchObject({ kind: "prompt", prompt: { name: "agent:poet" } });
  const template = await loadAgent(
    write(`${define}\nexport { template as default };
    const { template } = prompt;`),
  );
  expect(template.kind === "prompt" && template.prompt).toBeInstanceOf(Prompt);
  const loop = await loadAgent(
    write(`${define}
      import { AgentLoop } from ${JSON.stringify(FLEET)};
      import * as z from ${JSON.stringify(import.meta.resolve("zod"))};
      export default new AgentLoop({
        name: "poems", request: z.object({}), prepare: () => prompt, adapter: () => { throw 1; },
      });`),
  );
  expect(loop.kind === "loop" && loop.loop).toBeInstanceOf(AgentLoop);
});

test.each([
  ["export default {};", "is an object, and not a PromptTemplate, a Prompt or an AgentLoop. Use"],
  ["export default { apiKey: 'sk-1' };", "is an object, and not"],
  ["export default function main() {}", "is a function, and not"],
  ["export default new (class App {})();", "is an App, and not"],
  ["export default [];", "is an array, and not"],
  ["export default 'sk-1';", "is a string, and not"],
  ["export default null;", "is null, and not"],
  ["export const agent = 1;", "is undefined, and not"],
  ["export default Object.create(null);", "or run the file as a program: wink run node /"],
  [
    "class PromptTemplate {}\nexport default new PromptTemplate();",
    "FILE must import the same copy of weakincentives as wink",
  ],
  ["throw new Error('broken');", /^FILE must be a module that can be loaded, got ".*"\. Broken\.$/],
])("refuses a module without an agent: %s", async (text, problem) => {
  await expect(loadAgent(write(text))).rejects.toThrow(problem);
});

test("does not quote the default export, which may contain a secret", async () => {
  const failure = await loadAgent(write("export default { apiKey: 'sk-1' };")).catch(String);
  expect(failure).not.toContain("sk-1");
});

test("refuses a file that does not exist", async () => {
  await expect(loadAgent("nowhere.mts")).rejects.toThrow(
    'FILE must be an existing file, got "nowhere.mts". Pass the path of a module with an agent.',
  );
});
