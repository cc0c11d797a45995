import { Prompt } from "../../prompt/prompt.ts";
import type { PrepareContext } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import type { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { recordingBus } from "../recording-bus.ts";
import { expectContains, expectSame } from "./expect.ts";
import { wordTool } from "./prompts.ts";
import type { ContractCase } from "./subject.ts";

/** A section that learns its tools when it is prepared, and offers another after the first call. */
class ListedSection extends MarkdownSection {
  readonly steps: string[] = [];
  #tools: readonly Tool[] = [];
  #revision = 0;

  constructor() {
    super({ key: "listed", title: "Listed", template: "Use the listed tools." });
  }

  override async prepare(_context: PrepareContext): Promise<void> {
    this.steps.push("prepare");
    const later = this.#revision > 0 ? [createEcho("later", () => {})] : [];
    this.#tools = [createEcho("first", () => this.#change()), ...later];
  }

  override async release(_context: PrepareContext): Promise<void> {
    this.steps.push("release");
  }

  override get revision(): unknown {
    return this.#revision;
  }

  override tools(): readonly Tool[] {
    return this.#tools;
  }

  #change(): void {
    this.#revision = 1;
  }
}

function createEcho(name: string, run: () => void): Tool {
  return wordTool(name, ({ word }) => {
    run();
    return ToolResult.ok(`${name} heard ${word}`);
  });
}

const call = (name: string, word: string) => ({ toolCalls: [{ name, arguments: { word } }] });

/** Cases about sections that are prepared before the prompt is rendered. */
export const preparingCases: readonly ContractCase[] = [
  {
    name: "prepares a section before the first request, offers its changed tools from the next turn on, and releases it",
    script: [call("first", "one"), call("later", "two"), { text: "Done." }],
    async check({ adapter, asked }) {
      const section = new ListedSection();
      const template = new PromptTemplate({ ns: "contract", key: "listed", sections: [section] });
      const bus = recordingBus();
      await adapter.evaluate(new Prompt(template), { session: new Session({ bus }) });
      expectContains(asked()[1], "first heard one", "the second request");
      expectContains(asked()[2], "later heard two", "the third request");
      const offered = bus.of("PromptRendered").map(({ tools }) => tools.map(({ name }) => name));
      expectSame(offered, [["first"], ["first", "later"]], "the offered tools");
      expectSame(section.steps, ["prepare", "prepare", "release"], "the section's steps");
    },
  },
];
