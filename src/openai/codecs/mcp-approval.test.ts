import { describe, expect, test } from "vitest";
import { realContext } from "../../../tests/support/tool-context.ts";
import { type McpApprovalRequest, type McpApprover, mcpTool } from "../../tools/hosted/mcp.ts";
import type { WireItem } from "../wire.ts";
import { mcpCodec } from "./mcp.ts";

const config = {
  serverLabel: "dice",
  serverUrl: "https://dice.example/mcp",
  authorization: "s3cret-token",
  headers: { "X-Key": "s3cret-header" },
};
const toolWith = (approve?: McpApprover) => mcpTool(config, { name: "games", approve });
const request: WireItem = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  server_label: "dice",
  name: "bet",
  arguments: '{"all":true}',
};

/** Asks for the only approval that is wanted, and says what the provider is answered. */
async function decide(approve?: McpApprover) {
  const tool = toolWith(approve);
  const [call] = mcpCodec.asked?.([request], tool) ?? [];
  if (!call) throw new Error("nothing was asked");
  const { run, ...known } = call;
  const outcome = await call.run(await realContext());
  return { outcome, answer: mcpCodec.answer?.({ ...known, ...outcome }, tool) };
}

describe("a request for approval", () => {
  test("is asked of us under its own id", () => {
    const found = mcpCodec.asked?.([request], toolWith());
    expect(found).toEqual([
      {
        name: "games",
        kind: "mcp",
        callId: "mcpr_1",
        params: { name: "bet", serverLabel: "dice", arguments: '{"all":true}' },
        raw: request,
        run: expect.any(Function),
      },
    ]);
    expect(found?.[0]?.raw).toBe(request);
  });

  test("is asked once, and only of the server's own tool", () => {
    const other = { ...request, id: "mcpr_2", server_label: "other" };
    const answered = {
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: true,
    };
    const made = { type: "mcp_call", server_label: "dice", approval_request_id: "mcpr_1" };
    expect(mcpCodec.asked?.([request, other, answered], toolWith())).toEqual([]);
    expect(mcpCodec.asked?.([request, made], toolWith())).toEqual([]);
  });

  test("is approved by a plain true, also later", async () => {
    const seen: McpApprovalRequest[] = [];
    const { outcome, answer } = await decide(async (given) => {
      seen.push(given);
      return true;
    });
    expect(seen).toEqual([
      { id: "mcpr_1", serverLabel: "dice", name: "bet", arguments: '{"all":true}' },
    ]);
    expect(outcome).toEqual({
      output: null,
      success: true,
      message: 'Approved the call of "bet" of "dice"',
    });
    expect(answer).toEqual({
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: true,
    });
  });

  test.each([false, undefined, null, 1, "yes", {}])("is refused by %j", async (verdict) => {
    const message = 'Refused to call "bet" of "dice": it was not approved';
    const { outcome, answer } = await decide(() => verdict as boolean);
    expect(outcome).toEqual({ output: null, success: false, message });
    expect(answer).toEqual({
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: false,
      reason: message,
    });
  });

  test.each<[string, McpApprover]>([
    [
      "throws",
      () => {
        throw new Error("nobody home");
      },
    ],
    ["rejects", () => Promise.reject(new Error("nobody home"))],
  ])("is refused where the decision %s", async (_, approve) => {
    const message = 'Refused to call "bet" of "dice": asking for approval failed: nobody home';
    const { outcome, answer } = await decide(approve);
    expect(outcome).toEqual({ output: null, success: false, message });
    expect(answer).toMatchObject({ approve: false, reason: message });
  });

  test("is refused where nobody decides, and no secret is told", async () => {
    const { outcome, answer } = await decide();
    expect(outcome).toEqual({
      output: null,
      success: false,
      message: 'Refused to call "bet" of "dice": nobody is there to approve it',
    });
    expect(JSON.stringify([outcome, answer])).not.toContain("s3cret");
  });
});
