import { expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { InProcessEventBus } from "../session/event-bus.ts";
import { Session } from "../session/session.ts";
import { ClaudeAgentSDKAdapter } from "./adapter.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace/workspace-section.ts";

test("cancelling does not wait for mounts that are still copied, nor start anything after them", async () => {
  /** A mount as large as you like. */
  class EndlessWorkspace extends ClaudeAgentWorkspaceSection {
    override ready(): Promise<void> {
      return new Promise(() => {});
    }
  }
  const asked: object[] = [];
  const sdk = {
    async *query(request: object) {
      asked.push(request);
      yield {};
    },
  };
  const bus = new InProcessEventBus();
  const session = new Session({ bus });
  const workspace = new EndlessWorkspace({ session });
  const template = new PromptTemplate({ ns: "claude", key: "endless", sections: [workspace] });
  const stop = new AbortController();
  bus.subscribe("TurnStarted", () => void setTimeout(() => stop.abort("enough"), 50));
  const adapter = new ClaudeAgentSDKAdapter({ isolation: { apiKey: "k" }, sdk });
  const work = adapter.evaluate(new Prompt(template), { session, signal: stop.signal });
  await expect(work).rejects.toBe("enough");
  expect(asked).toEqual([]);
  await workspace.cleanup();
});
