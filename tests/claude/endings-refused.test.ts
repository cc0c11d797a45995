import { describe, expect, test } from "vitest";
import { PromptEvaluationError, Tool } from "weakincentives";
import { type ClaudeSdk, loadSdk } from "../../src/claude/sdk.ts";
import { endingStage, own } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say } from "../support/claude/messages-server.ts";

/** The real SDK, with another option. */
async function sdkWith(options: object): Promise<ClaudeSdk> {
  const sdk = await loadSdk();
  return {
    query: (request) => sdk.query({ ...request, options: { ...request.options, ...options } }),
  };
}

describe.skipIf(sdkMissing)("Nothing is left on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("of a run whose tool throws, and which goes on", async () => {
    const broken = new Tool({
      name: "broken",
      description: "Throws.",
      params: null,
      handler: (_params, { session }) => {
        session.dispatch({ type: "EndingNoted", note: "by a tool that throws" });
        throw new Error("a mistake of somebody's");
      },
    });
    const stage = await endingStage([{ content: [own(broken)] }, { content: [say("I see.")] }], {
      tools: [broken],
    });
    expect((await stage.run()).text).toBe("I see.");
    expect(stage.server.requests[1]?.text).toContain("a mistake of somebody's");
    expect(stage.noted()).toEqual(["before"]);
    await stage.expectNothingLeft();
  });

  test("of a run that the model's provider refuses", async () => {
    const stage = await endingStage([]);
    const error = await stage.failure();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error.message).toContain("API Error: 403 The script is over");
    expect(error.phase).toBe("request");
    await stage.expectNothingLeft();
  });

  test("of a run whose SDK cannot be used", async () => {
    const sdk: ClaudeSdk = {
      query() {
        throw new Error("Native CLI binary not found.");
      },
    };
    const stage = await endingStage([], { adapter: { sdk } });
    const error = await stage.failure();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "request",
      message:
        "The Claude Agent SDK could not start (Native CLI binary not found): install @anthropic-ai/claude-agent-sdk with its optional dependencies",
    });
    await stage.expectNothingLeft();
  });

  test("of a run whose program is not there", async () => {
    const sdk = await sdkWith({ pathToClaudeCodeExecutable: "/no/such/claude" });
    const stage = await endingStage([], { adapter: { sdk } });
    const error = await stage.failure();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error.phase).toBe("request");
    expect(error.message).toMatch(
      /^The Claude Agent SDK could not start \(.* not found at \/no\/such\/claude.*\): install @anthropic-ai\/claude-agent-sdk/,
    );
    await stage.expectNothingLeft();
  });

  test("of a run that would need a sandbox which is not installed", async () => {
    const env = { PATH: "/no/such/folder" };
    const stage = await endingStage([], { isSandboxed: true, adapter: { env } });
    const error = await stage.failure();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error.phase).toBe("request");
    expect(error.message).toContain("apt-get install bubblewrap socat");
    expect(stage.server.requests).toEqual([]);
    await stage.expectNothingLeft();
  });

  test("of a run that was throttled, and is cancelled as it is given up", async () => {
    const given = new AbortController();
    const reason = new Error("I changed my mind");
    const stage = await endingStage(() => {
      void cancelAfterTheProcess();
      return { status: 429, type: "rate_limit_error", message: "Slow down." };
    });
    async function cancelAfterTheProcess(): Promise<void> {
      while (stage.sdkProcess() !== null) await new Promise((resolve) => setTimeout(resolve, 1));
      given.abort(reason);
    }
    expect(await stage.failure({ signal: given.signal })).toBe(reason);
    await stage.expectNothingLeft();
  });
});
