import type {
  OpenAIContainerWorkspaceSection,
  OpenAIContainerWorkspaceSectionOptions,
} from "weakincentives/openai";
import { readRecords, readString, readStringOrNull } from "../../../src/base/loose-fields.ts";
import {
  createInterceptionFixture,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "./interception-fixture.ts";
import { PATH_LOOKUP } from "./reference-folder.ts";

/** A workspace whose model runs the code that it is given. */
export interface CodeRunner {
  readonly fixture: InterceptionFixture;
  readonly section: OpenAIContainerWorkspaceSection;
  /**
   * Runs Python in `/mnt/data` and returns its output. `at(path)` returns the location of a workspace path.
   * The model first runs the code that its instructions contain.
   */
  run(code: string): Promise<string>;
  /** Deletes the container, so that the next run uses a replacement. */
  loseContainer(): Promise<void>;
  /** Returns the text of the last request that the model answered. */
  readLastRequest(): string;
}

/** Creates a workspace with these options. It is cleaned up when the test ends. */
export async function createCodeRunner(
  options: Partial<OpenAIContainerWorkspaceSectionOptions> = {},
): Promise<CodeRunner> {
  const done = new Set<string>();
  const fixture = await createInterceptionFixture(({ items, tools }) => {
    const container = tools.map((tool) => readStringOrNull({ ...tool }, "container")).join();
    const texts = items.map((item) => readString({ ...item }, "content"));
    const ran = items.map((item) => readString({ ...item }, "code"));
    const blocks = texts.flatMap((text) => findBlocks(text, "python"));
    const next = blocks.find((block) => !done.has(container + block));
    if (next !== undefined) {
      done.add(container + next);
      return [{ code: next }];
    }
    const [code] = texts.flatMap((text) => findBlocks(text, "py"));
    if (code === undefined) return [{ say: "Done." }];
    const whole = `${PATH_LOOKUP}os.chdir("/mnt/data")\n${code}\nNone`;
    return ran.includes(whole) ? [{ say: "Done." }] : [{ code: whole }];
  });
  const section = fixture.createSection(options);
  return {
    fixture,
    section,
    async run(code) {
      await fixture.evaluate(section, { task: `\`\`\`py\n${code}\n\`\`\`` });
      return fixture.readOutputs().at(-1) ?? "";
    },
    loseContainer: () => fixture.calls.remove(section.containerId ?? ""),
    readLastRequest() {
      const isAnswered = (request: Parameters<typeof isWorkspaceRequest>[0]) =>
        request.path === "/responses" && !isWorkspaceRequest(request);
      const body = fixture.seenRequests.findLast(isAnswered)?.body ?? {};
      return readRecords(body, "input")
        .map((item) => readString(item, "content"))
        .join("\n");
    },
  };
}

function findBlocks(text: string, language: string): readonly string[] {
  const blocks = text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``, "g"));
  return [...blocks].map(([, block = ""]) => block);
}
