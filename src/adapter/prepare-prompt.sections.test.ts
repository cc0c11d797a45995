import { describe, expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import type { Section } from "../prompt/section.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";

/** A section that only one adapter can run. */
class Theirs extends MarkdownSection {
  override get provider(): string {
    return "openai";
  }
}

const about = { key: "box", title: "Box", template: "In the box." };
const theirs = (more: object = {}) => new Theirs({ ...about, ...more });
const within = (child: MarkdownSection) =>
  new MarkdownSection({ key: "task", title: "Task", template: "Work.", children: [child] });

async function tried(section: Section, name = "claude") {
  const bus = recordingBus();
  const client = scriptedClient({ text: "Done." }).with({ name });
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [section] }));
  const outcome: unknown = await client
    .evaluate(prompt, { session: new Session({ bus }) })
    .catch((error: unknown) => error);
  return { outcome, asked: client.asked, bus };
}

describe("a section of another adapter", () => {
  test("is refused before anything is sent, with its path", async () => {
    const { outcome, asked, bus } = await tried(within(theirs()));
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message:
        'Section "task.box" provider must be "claude" for this adapter, got "openai". Use this adapter\'s own section in its place, which takes the same options',
      cause: { name: "InvalidOptionError" },
    });
    expect([asked, bus.events]).toEqual([[], []]);
  });

  test("runs on the adapter it is for", async () => {
    const { outcome, asked } = await tried(within(theirs()), "openai");
    expect(outcome).toMatchObject({ text: "Done." });
    expect(asked[0]?.rendered.providers).toEqual(new Map([["task.box", "openai"]]));
  });

  test("does no harm where it is not enabled", async () => {
    const { outcome, asked } = await tried(within(theirs({ enabled: () => false })));
    expect(outcome).toMatchObject({ text: "Done." });
    expect(asked[0]?.rendered.providers).toEqual(new Map());
  });

  test("does no harm where only its summary is shown", async () => {
    const { outcome } = await tried(within(theirs({ summary: "A box.", visibility: "summary" })));
    expect(outcome).toMatchObject({ text: "Done." });
  });
});

test("a section that is for any adapter runs on each", async () => {
  for (const name of ["claude", "openai"]) {
    const { outcome } = await tried(new MarkdownSection(about), name);
    expect(outcome).toMatchObject({ text: "Done." });
  }
});
