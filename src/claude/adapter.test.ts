import { expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { InProcessEventBus } from "../session/event-bus.ts";
import { Session } from "../session/session.ts";
import { ClaudeAgentSDKAdapter } from "./adapter.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace/workspace-section.ts";

test("aborting an evaluation does not wait for mounts to be copied and does not start the SDK", async () => {
  /** A workspace whose mounts are never fully copied. */
  class EndlessWorkspace extends ClaudeAgentWorkspaceSection {
    override ready(): Promise<void> {
      return new Promise(() => {});
    }
  }
  const requests: object[] = [];
  const sdk = {
    async *query(request: object) {
      requests.push(request);
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
  expect(requests).toEqual([]);
  await workspace.cleanup();
});
