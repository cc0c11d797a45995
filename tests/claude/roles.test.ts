import { describe, expect, test } from "vitest";
import { type InputPart, MarkdownSection, shellTool, Tool, ToolResult } from "weakincentives";
import { readRecords, readString, type UnknownRecord } from "../../src/base/json.ts";
import {
  createPrompt,
  createServerFixture,
  type ModelEndpoint,
} from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const RULES = "Answer in one line.";
const rules = new MarkdownSection({ key: "rules", title: "Rules", template: RULES });
const createChat = () => createPrompt({ key: "rules", title: "Rules", template: RULES });
const createAnswers = (...texts: readonly string[]) =>
  texts.map((text) => ({ content: [textBlock(text)] }));

/** Returns the system texts of a request, without the SDK's header for billing. */
function readSystem(body: UnknownRecord | undefined): readonly string[] {
  const texts = readRecords(body ?? {}, "system").map((block) => readString(block, "text"));
  return texts.filter((text) => !text.startsWith("x-anthropic-billing-header"));
}

/** Returns the messages of a request as lines such as `user: text`, without the SDK's own. */
function readMessages(body: UnknownRecord | undefined): readonly string[] {
  return readRecords(body ?? {}, "messages").flatMap((message) =>
    readRecords(message, "content")
      .filter(() => message["role"] !== "system")
      .map((block) => `${readString(message, "role")}: ${readString(block, "text")}`),
  );
}

function countOccurrences(text: string | undefined, part: string): number {
  return (text ?? "").split(part).length - 1;
}

/** The system prompt that the SDK sends if it gets none. */
const SDK_PERSONA = "You are a Claude agent, built on Anthropic's Claude Agent SDK.";

const readBodies = ({ requests }: ModelEndpoint) => requests.map(({ body }) => body);

describe.skipIf(sdkMissing)("Message roles on the real SDK", () => {
  test(
    "send a prompt without a user part as the user message, with the SDK's system prompt",
    async () => {
      const fixture = await createServerFixture(createAnswers("Done."));
      await fixture.run(createChat());
      const [body] = readBodies(fixture);
      expect(readSystem(body)).toEqual([SDK_PERSONA]);
      expect(readMessages(body)).toEqual([`user: ## 1. Rules (rules)\n\n${RULES}`]);
    },
    SDK_TIMEOUT,
  );

  test(
    "send system sections as the system prompt, and user sections, attachments and input as one user message",
    async () => {
      const fixture = await createServerFixture(createAnswers("Done."));
      const prompt = createPrompt({ role: "user", template: "Describe it." }, [rules]).attach({
        bytes: new TextEncoder().encode("An owl."),
        filename: "owl.txt",
      });
      const input: readonly InputPart[] = [
        { type: "text", text: "/compact @a.txt" },
        { bytes: new TextEncoder().encode("A bat."), filename: "bat.txt" },
        { type: "text", text: "Which one flies at night?" },
      ];
      await fixture.run(prompt, { evaluate: { input } });
      const [body] = readBodies(fixture);
      expect(readSystem(body)).toEqual([SDK_PERSONA, `## 1. Rules (rules)\n\n${RULES}`]);
      const [message] = readRecords(body ?? {}, "messages");
      expect(message?.["role"]).toBe("user");
      expect(readRecords(message ?? {}, "content")).toMatchObject([
        { type: "text", text: "## 2. Task (task)\n\nDescribe it." },
        { type: "document", title: "owl.txt" },
        { type: "text", text: "/compact @a.txt" },
        { type: "document", title: "bat.txt" },
        { type: "text", text: "Which one flies at night?" },
      ]);
      expect(countOccurrences(fixture.requests[0]?.text, RULES)).toBe(1);
    },
    SDK_TIMEOUT,
  );

  test(
    "leave the SDK's system prompt if the prompt has user sections only",
    async () => {
      const fixture = await createServerFixture(createAnswers("Done."));
      await fixture.run(createPrompt({ role: "user" }), { evaluate: { input: "Hello." } });
      const [body] = readBodies(fixture);
      expect(readSystem(body)).toEqual([SDK_PERSONA]);
      expect(readMessages(body)).toEqual(["user: ## 1. Task (task)\n\nGo.", "user: Hello."]);
    },
    SDK_TIMEOUT,
  );

  test(
    "reject attachments of an input before the SDK starts",
    async () => {
      const fixture = await createServerFixture([]);
      const input = [{ type: "text", text: "Look." }, { fileId: "file_1" }] as const;
      const error = await fixture.runToError(createChat(), { evaluate: { input } });
      expect(error.message).toBe(
        "evaluate(input)[1].fileId must be omitted on Claude, which cannot read files by id, got " +
          '"file_1". Attach the file by path or bytes.',
      );
      expect(fixture.requests).toEqual([]);
    },
    SDK_TIMEOUT,
  );

  test(
    "send each message of a chat once, and the system prompt first and once in every request",
    async () => {
      const answers = ["First answer.", "Second answer.", "Third answer."];
      const fixture = await createServerFixture(createAnswers(...answers));
      const questions = ["First question?", "Second question?", "Third question?"];
      for (const input of questions) {
        await fixture.run(createChat(), { evaluate: { continue: true, input } });
      }
      const said = questions.flatMap((question, index) => [
        `user: ${question}`,
        `assistant: ${answers[index]}`,
      ]);
      for (const [index, body] of readBodies(fixture).entries()) {
        expect(readSystem(body)).toEqual([SDK_PERSONA, `## 1. Rules (rules)\n\n${RULES}`]);
        expect(readMessages(body)).toEqual(said.slice(0, 2 * index + 1));
        expect(countOccurrences(fixture.requests[index]?.text, RULES)).toBe(1);
      }
    },
    SDK_TIMEOUT,
  );

  test(
    "apply changed system text when a conversation continues",
    async () => {
      const fixture = await createServerFixture(createAnswers("One.", "Two."));
      const evaluate = { continue: true, input: "Hello?" };
      await fixture.run(createChat(), { evaluate });
      await fixture.run(createPrompt({ template: "Answer in verse." }), { evaluate });
      expect(readSystem(readBodies(fixture)[1]).at(-1)).toContain("Answer in verse.");
      expect(fixture.requests[1]?.text).not.toContain(RULES);
    },
    SDK_TIMEOUT,
  );

  test(
    "may change between evaluations of a conversation: without a user part, with one, and without again",
    async () => {
      const fixture = await createServerFixture(createAnswers("One.", "Two.", "Three."));
      const text = `## 1. Rules (rules)\n\n${RULES}`;
      await fixture.run(createChat(), { evaluate: { continue: true } });
      await fixture.run(createChat(), { evaluate: { continue: true, input: "And now?" } });
      await fixture.run(createChat(), { evaluate: { continue: true } });
      const bodies = readBodies(fixture);
      expect(bodies.map(readSystem)).toEqual([[SDK_PERSONA], [SDK_PERSONA, text], [SDK_PERSONA]]);
      expect(readMessages(bodies[2])).toEqual([
        `user: ${text}`,
        "assistant: One.",
        "user: And now?",
        "assistant: Two.",
        `user: ${text}`,
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "tell the model the changed system text when a section is opened during a run",
    async () => {
      const cellar = new MarkdownSection({
        key: "cellar",
        title: "Cellar",
        template: "Mind the third step.",
        summary: "There is a cellar.",
        visibility: "summary",
        hostedTools: [shellTool()],
      });
      const opening = { section_keys: ["cellar"], reason: "I must see it." };
      const fixture = await createServerFixture([
        { content: [toolUse("mcp__wink__open_sections", opening)] },
        ...createAnswers("Done."),
      ]);
      await fixture.run(createPrompt({ role: "user" }, [cellar]));
      const [first, second] = readBodies(fixture);
      expect(readSystem(second)).toEqual(readSystem(first));
      const told = JSON.stringify(readRecords(second ?? {}, "messages").slice(1));
      expect(told).toMatch(/The instructions now read:.*Mind the third step\./);
      expect(told).not.toContain("user's message now reads");
    },
    SDK_TIMEOUT,
  );

  test(
    "keep the system prompt and repeat the user's message after the SDK has compacted the conversation",
    async () => {
      const look = new Tool({
        name: "look",
        description: "Looks.",
        params: null,
        handler: () => ToolResult.ok(null, "An owl."),
      });
      const createCall = () => toolUse("mcp__wink__look", {});
      const fixture = await createServerFixture([
        { content: [createCall()] },
        { content: [createCall()], usage: { input_tokens: 150_000 } },
        ...createAnswers("Done."),
      ]);
      const prompt = createPrompt({ role: "user", template: "Describe it.", tools: [look] }, [
        rules,
      ]);
      await fixture.run(prompt, {
        adapter: { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" } },
        evaluate: { input: "What is it?" },
      });
      expect(fixture.bus.of("ContextCompacted")).toHaveLength(1);
      const last = fixture.requests.at(-1);
      expect(last?.text).toContain("Much was read.");
      expect(readSystem(last?.body).at(-1)).toBe(`## 1. Rules (rules)\n\n${RULES}`);
      expect(countOccurrences(last?.text, RULES)).toBe(1);
      expect(last?.text).toMatch(
        /The user's message reads as follows\..*<user_message>.*Describe it\..*What is it\?.*<\/user_message>/,
      );
    },
    SDK_TIMEOUT,
  );
});
