import { definePrompt } from "../../../src/prompt/define-prompt.ts";
import { Session } from "../../../src/session/session.ts";
import type { SessionStore } from "../../../src/session/session-store.ts";
import { scriptedClient } from "../../../src/testing/scripted-client.ts";
import { Tool } from "../../../src/tools/tool.ts";
import { ToolResult } from "../../../src/tools/tool-result.ts";

const bake = new Tool({
  name: "bake",
  description: "Bakes.",
  params: null,
  handler: () => ToolResult.ok("bread"),
});
const burn = new Tool({
  name: "burn",
  description: "Burns.",
  params: null,
  handler: () => ToolResult.error("The oven is \u001b[31mon fire\u202e."),
});
const prompt = definePrompt({ name: "bakery:baker", instructions: "Bake.", tools: [bake, burn] });

/** Stores a session with one evaluation: a call that works, one that fails with a hostile message, and an answer. */
export async function storeRun(
  store: SessionStore,
  id: string,
  answer = "Done.\n\u001b]0;hostile\u0007",
): Promise<void> {
  const session = new Session({ store, id, tags: { shop: "north" } });
  const usage = { inputTokens: 1_000, outputTokens: 200 };
  const model = scriptedClient(
    { toolCalls: [{ name: "bake" }, { name: "burn" }], usage },
    { text: answer, usage },
  );
  await model.evaluate(prompt, { session, input: "Bread!" });
  await session.close();
}
