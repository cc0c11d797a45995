import { describe, expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import type { Section } from "../prompt/section.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";

/** A section for a single adapter. */
class ForeignSection extends MarkdownSection {
  override get provider(): string {
    return "openai";
  }
}

const about = { key: "box", title: "Box", template: "In the box." };
const createForeignSection = (more: object = {}) => new ForeignSection({ ...about, ...more });
const nestSection = (child: MarkdownSection) =>
  new MarkdownSection({ key: "task", title: "Task", template: "Work.", children: [child] });

async function evaluateSection(section: Section, name = "claude") {
  const bus = recordingBus();
  const client = scriptedClient({ text: "Done." }).with({ name });
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [section] }));
  const outcome: unknown = await client
    .evaluate(prompt, { session: new Session({ bus }) })
    .catch((error: unknown) => error);
  return { outcome, asked: client.asked, bus };
}

describe("a section for a different adapter", () => {
  test("is rejected before any request, with its path", async () => {
    const { outcome, asked, bus } = await evaluateSection(nestSection(createForeignSection()));
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message:
        'Section "task.box" provider must be "claude" for this adapter, got "openai". Use this adapter\'s own section in its place, which takes the same options.',
      cause: { name: "InvalidOptionError" },
    });
    expect([asked, bus.events]).toEqual([[], []]);
  });

  test("runs on its own adapter", async () => {
    const { outcome, asked } = await evaluateSection(nestSection(createForeignSection()), "openai");
    expect(outcome).toMatchObject({ text: "Done." });
    expect(asked[0]?.rendered.providers).toEqual(new Map([["task.box", "openai"]]));
  });

  test("is accepted if it is disabled", async () => {
    const { outcome, asked } = await evaluateSection(
      nestSection(createForeignSection({ enabled: () => false })),
    );
    expect(outcome).toMatchObject({ text: "Done." });
    expect(asked[0]?.rendered.providers).toEqual(new Map());
  });

  test("is accepted if only its summary is shown", async () => {
    const { outcome } = await evaluateSection(
      nestSection(createForeignSection({ summary: "A box.", visibility: "summary" })),
    );
    expect(outcome).toMatchObject({ text: "Done." });
  });
});

test("a section for any adapter runs on each adapter", async () => {
  for (const name of ["claude", "openai"]) {
    const { outcome } = await evaluateSection(new MarkdownSection(about), name);
    expect(outcome).toMatchObject({ text: "Done." });
  }
});
