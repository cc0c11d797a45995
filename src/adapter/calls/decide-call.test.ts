import { expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { reopenSession } from "../../../tests/support/resume/reopen-session.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import type { ApprovalRequest } from "../approvals/approval-request.ts";
import type { TurnRequest } from "../model-client.ts";

const section = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "run", sections: [section] }));

/** A client that runs calls itself: it decides about calls with these params, in order. */
function createClient(...calls: readonly object[]) {
  const verdicts: string[] = [];
  const client = scriptedClient(async ({ decideCall }: TurnRequest) => {
    for (const [index, params] of calls.entries()) {
      const call = { name: "write", callId: `call_${index}`, params };
      const verdict = await decideCall?.({ ...call, needsApproval: true, isRepeated: true });
      verdicts.push(verdict?.kind ?? "none");
    }
    return { text: "Done." };
  });
  return { client, verdicts };
}

test("a call that its client repeats has the key of its params, in every process", async () => {
  const keys: string[] = [];
  const approve = async ({ key }: ApprovalRequest) => {
    keys.push(key);
    return "deny" as const;
  };
  for (let run = 0; run < 2; run++) {
    const session = await reopenSession(new MemorySessionStore());
    await createClient({ path: "a" }, { path: "b" }).client.evaluate(prompt, { session, approve });
  }
  const [first, second] = keys;
  expect(first).toMatch(/^s:write:[\w-]+$/);
  expect(first).not.toBe(second);
  expect(keys.slice(2)).toEqual([first, second]);
});

test("an approval counts for one of two equal calls, and approve decides about the other", async () => {
  const session = await reopenSession(new MemorySessionStore());
  const keys: string[] = [];
  const approve = async ({ key }: ApprovalRequest) => {
    keys.push(key);
    return "deny" as const;
  };
  await createClient({ path: "a" }).client.evaluate(prompt, { session, approve });
  const approvals = Object.fromEntries(keys.map((key) => [key, "approve" as const]));
  const { client, verdicts } = createClient({ path: "a" }, { path: "a" });
  await client.evaluate(prompt, { session, approve, approvals });
  expect(verdicts).toEqual(["approved", "denied"]);
  expect(keys).toHaveLength(2);
});
