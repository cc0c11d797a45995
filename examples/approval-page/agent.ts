import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ApprovalRequest,
  definePrompt,
  EvaluationParkedError,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

/**
 * Starts or continues the release in a folder. Returns its answer, or `null` if a call waits for approval. Then
 * `readWaiting` returns the call, in any process.
 */
export async function runAgent(
  folder: string,
  approvals: Readonly<Record<string, "approve" | "deny">> = {},
): Promise<string | null> {
  const deploy = new Tool({
    name: "deploy",
    description: "Deploys a version to production.",
    params: z.strictObject({ version: z.string(), note: z.string() }),
    effects: "once",
    needsApproval: true,
    handler: ({ version }) => {
      appendFileSync(join(folder, "deployed.txt"), `${version}\n`); // instead of a deployment
      return ToolResult.ok(null, `Deployed ${version}.`);
    },
  });
  const releaser = definePrompt({
    name: "releaser",
    instructions: "Deploy the version that the user names, with the user's text as the note.",
    tools: [deploy],
  });
  const input = readFileSync(join(folder, "task.txt"), "utf8");
  const store = new JsonlSessionStore(join(folder, "sessions"));
  try {
    const session = await Session.openOrCreate(store, "release");
    const approve = async () => "park" as const;
    const options = { session, input, resume: true, approve, approvals };
    const { text } = await createAdapter(input).evaluate(releaser, options);
    rmSync(join(folder, "waiting.json"), { force: true });
    return text;
  } catch (error) {
    if (!(error instanceof EvaluationParkedError)) throw error;
    writeFileSync(join(folder, "waiting.json"), JSON.stringify(error.approvals));
    return null;
  } finally {
    await store.close();
  }
}

/** Returns the calls that wait for approval. */
export function readWaiting(folder: string): readonly ApprovalRequest[] {
  const path = join(folder, "waiting.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
}

/** A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY. */
function createAdapter(note: string): ProviderAdapter {
  if (process.argv.includes("--live")) return new OpenAIAdapter({ model: "gpt-5.2" });
  const call = { name: "deploy", arguments: { version: "2.0.1", note } };
  return scriptedClient(({ turn, answers }) =>
    turn === 1 ? { toolCalls: [call] } : { text: `I read: ${answers[0]?.text}` },
  );
}
