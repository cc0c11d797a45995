import { describe, expect, test } from "vitest";
import { Session } from "../../session/session.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { createContinuation, createLostFilesText } from "./create-continuation.ts";
import { hasSameTexts, resumePointSlice } from "./resume-point.ts";
import { SentPrompt } from "./sent-prompt.ts";

const render = (system: string, user = "") => ({
  text: system,
  messages: [
    { role: "system" as const, text: system },
    ...(user === "" ? [] : [{ role: "user" as const, text: user }]),
  ],
});
const call = { name: "look", callId: "a", arguments: '{"n":1}' };
const answers = [{ call, result: ToolResult.ok(1), text: "An owl." }];
const use = { message: { content: [{ type: "tool_use", id: "a" }] } };

function createText(system: string, earlier: readonly object[]): string {
  const sentPrompt = new SentPrompt(render(system), [], new SentPrompt(render("Count.")).sent);
  const request = { answers, notes: ["A note."], rendered: render(system) as never };
  const [block, ...others] = createContinuation(request, { earlier, sentPrompt });
  expect(others).toEqual([]);
  return Object(block).text;
}

describe("createContinuation()", () => {
  test("has the notes, and neither results nor texts that the model has", () => {
    const text = createText("Count.", [use]);
    expect(text).toMatch(/^The process that ran this conversation was lost.*\n\nA note\.$/s);
    expect(text).not.toMatch(/An owl|Count/);
  });

  test("has the prompt's text if that has changed", () => {
    expect(createText("Count owls.", [use])).toContain("now read:\n\nCount owls.");
  });

  test("has the results and the prompt if the transcript lacks them", () => {
    const text = createText("Count.", []);
    expect(text).toContain('You called look with {"n":1}. Its result:\n\nAn owl.');
    expect(text).toContain("The instructions read:\n\nCount.");
  });
});

describe("createLostFilesText()", () => {
  test("lists at most 100 files", () => {
    const lost = Array.from({ length: 102 }, (_, index) => ({ path: `f${index}`, reason: "lost" }));
    const lines = String(Object(createLostFilesText(lost)).text).split("\n");
    expect(lines.slice(1, 3)).toEqual(["- f0: lost", "- f1: lost"]);
    expect(lines.slice(-2)).toEqual(["- f99: lost", "- and 2 more"]);
    expect(Object(createLostFilesText(lost.slice(0, 1))).text).toMatch(/:\n- f0: lost$/);
  });
});

describe("a prompt that a resumed run has sent before", () => {
  const input = [{ type: "text" as const, text: "How many?" }];

  test("keeps its parts and the user's input, and has the new system text", () => {
    const { sent } = new SentPrompt(render("Count."), input);
    expect(sent).toEqual({ hasUserPart: true, user: "", input: "How many?" });
    const resumed = new SentPrompt(render("Count owls."), [], sent);
    expect(resumed.systemPrompt).toBe("Count owls.");
    expect(resumed.update(render("Count owls."))).toEqual([]);
    expect(resumed.repeat()).toContain("How many?");
    expect(resumed.sent).toEqual(sent);
  });

  test("is stored when it changes", () => {
    const { sent } = new SentPrompt(render("Count."), input);
    expect(hasSameTexts(null, sent)).toBe(false);
    expect(hasSameTexts(sent, { ...sent })).toBe(true);
    expect(hasSameTexts(sent, { ...sent, user: "Now." })).toBe(false);
    expect(hasSameTexts(sent, { ...sent, input: null })).toBe(false);
    const session = new Session().register(resumePointSlice);
    const advance = (adapter: string, resumePoint?: object) =>
      session.dispatch({ type: "HistoryAdvanced", adapter, resumePoint } as never);
    advance("openai", sent);
    advance("claude", { turn: 1 });
    expect(session.get(resumePointSlice)).toBeNull();
    advance("claude", sent);
    advance("claude");
    expect(session.get(resumePointSlice)).toEqual(sent);
  });
});
