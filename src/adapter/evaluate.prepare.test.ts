import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { PromptRenderError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { Prompt } from "../prompt/prompt.ts";
import type { PrepareContext, Section } from "../prompt/section.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { sequentialDependency } from "../tools/sequential-dependency.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

/** A section whose tools are known only after `prepare`. */
class ListedSection extends MarkdownSection {
  readonly log: string[] = [];
  readonly contexts = new Set<PrepareContext>();
  names: readonly string[] = [];
  listed: readonly string[] = ["look"];
  onPrepare: (context: PrepareContext) => void | Promise<void> = () => {};
  #revision = 0;

  constructor(key = "listed", enabled: () => boolean = () => true) {
    super({ key, title: "Listed", template: "Use the tools.", enabled });
  }

  override async prepare(context: PrepareContext): Promise<void> {
    this.log.push("prepare");
    this.contexts.add(context);
    await this.onPrepare(context);
    this.names = this.listed;
  }

  override async release(context: PrepareContext): Promise<void> {
    this.log.push(this.contexts.has(context) ? "release" : "release of an unknown context");
  }

  override get revision(): unknown {
    return this.#revision;
  }

  change(names: readonly string[]): void {
    this.listed = names;
    this.#revision += 1;
  }

  override tools(): readonly Tool[] {
    return this.names.map((name) => createTool(name, () => {}));
  }
}

function createTool(name: string, run: () => void): Tool {
  const handler = () => {
    run();
    return ToolResult.ok(null, `${name} ran`);
  };
  return new Tool({ name, description: "Does it.", params: null, handler });
}

const createPrompt = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "tests", key: "prepare", sections }));
const call = (name: string) => ({ toolCalls: [{ name, arguments: {} }] });
const done = { text: "Done." };

describe("evaluate() with a section that has prepare", () => {
  test("prepares it before it renders, offers its tools, and releases it once at the end", async () => {
    const section = new ListedSection();
    const client = scriptedClient(call("look"), done);
    const { text } = await client.evaluate(createPrompt(section), { session: new Session() });
    expect(text).toBe("Done.");
    expect(client.asked[0]?.rendered.tools.map(({ name }) => name)).toEqual(["look"]);
    expect(section.log).toEqual(["prepare", "release"]);
  });

  test("prepares children too, also below a summary, and skips disabled sections", async () => {
    const [child, hidden] = [new ListedSection("child"), new ListedSection("hidden")];
    const parent = new MarkdownSection({
      key: "parent",
      title: "Parent",
      template: "More.",
      summary: "Less.",
      visibility: "summary",
      children: [child],
    });
    const off = new MarkdownSection({
      key: "off",
      title: "Off",
      template: "Off.",
      enabled: () => false,
      children: [hidden],
    });
    await scriptedClient(done).evaluate(createPrompt(parent, off), { session: new Session() });
    expect(child.log).toEqual(["prepare", "release"]);
    expect(hidden.log).toEqual([]);
  });

  test("prepares sections concurrently", async () => {
    const [one, two] = [new ListedSection("one"), new ListedSection("two")];
    two.listed = [];
    const started = Promise.withResolvers<void>();
    one.onPrepare = () => started.promise;
    two.onPrepare = () => started.resolve();
    await scriptedClient(done).evaluate(createPrompt(one, two), { session: new Session() });
    expect([one.log, two.log]).toEqual([
      ["prepare", "release"],
      ["prepare", "release"],
    ]);
  });

  test("prepares and renders it again before the next turn if its revision changed", async () => {
    const section = new ListedSection();
    const client = scriptedClient(
      () => {
        section.change(["look", "jump"]);
        return call("look");
      },
      call("jump"),
      done,
    );
    await client.evaluate(createPrompt(section), { session: new Session() });
    const offered = client.asked.map(({ rendered }) => rendered.tools.map(({ name }) => name));
    expect(offered).toEqual([["look"], ["look", "jump"], ["look", "jump"]]);
    expect(section.log).toEqual(["prepare", "prepare", "release"]);
    expect(section.contexts.size).toBe(1);
  });

  test("prepares it again if its revision changed while it was prepared", async () => {
    const section = new ListedSection();
    const prepare = section.prepare.bind(section);
    section.prepare = async (context) => {
      await prepare(context); // it has the old list now
      if (section.log.length === 1) section.change(["look", "jump"]);
    };
    const client = scriptedClient(call("look"), call("jump"), done);
    await client.evaluate(createPrompt(section), { session: new Session() });
    const offered = client.asked.map(({ rendered }) => rendered.tools.map(({ name }) => name));
    expect(offered).toEqual([["look"], ["look", "jump"], ["look", "jump"]]);
    expect(section.log).toEqual(["prepare", "prepare", "release"]);
  });

  test("prepares a section that is enabled during the evaluation", async () => {
    let isOn = false;
    const late = new ListedSection("late", () => isOn);
    const early = new ListedSection("early");
    late.listed = ["jump"];
    const client = scriptedClient(
      () => {
        isOn = true;
        early.change(["look"]);
        return call("look");
      },
      call("jump"),
      done,
    );
    await client.evaluate(createPrompt(early, late), { session: new Session() });
    expect(late.log).toEqual(["prepare", "release"]);
  });

  test("prepares it for a nested evaluation and for each of two concurrent ones", async () => {
    const section = new ListedSection();
    const prompt = createPrompt(section);
    const session = new Session();
    const ask = new Tool({
      name: "ask",
      description: "Asks.",
      params: null,
      handler: async (_params, context) => {
        const { text } = await context.adapter.evaluate(prompt, { session });
        return ToolResult.ok(text);
      },
    });
    const outer = new MarkdownSection({ key: "o", title: "O", template: "Ask.", tools: [ask] });
    const client = scriptedClient(call("ask"), { text: "Inner." }, done);
    await client.evaluate(createPrompt(outer), { session });
    expect(section.log).toEqual(["prepare", "release"]);
    const both = scriptedClient(done, done);
    await Promise.all([1, 2].map(() => both.evaluate(prompt, { session: new Session() })));
    expect(section.contexts.size).toBe(3);
    expect(section.log.filter((entry) => entry === "release")).toHaveLength(3);
  });

  test("rejects with the section's path if prepare throws, and releases it", async () => {
    const section = new ListedSection();
    section.onPrepare = () => Promise.reject(new Error("No server. Start it."));
    const error = await scriptedClient()
      .evaluate(createPrompt(section), { session: new Session() })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "render",
      message: 'Section "listed": its prepare() failed: No server. Start it.',
      cause: expect.any(PromptRenderError),
    });
    expect(section.log).toEqual(["prepare", "release"]);
  });

  test("stops waiting for prepare when the evaluation is canceled, and releases the section", async () => {
    const section = new ListedSection();
    const { signal, abort } = createAbort();
    section.onPrepare = (context) => {
      abort(new Error("enough"));
      expect(context.signal.aborted).toBe(true);
      return new Promise(() => {});
    };
    const client = scriptedClient();
    const running = client.evaluate(createPrompt(section), { session: new Session(), signal });
    await expect(running).rejects.toThrow("enough");
    expect(section.log).toEqual(["prepare", "release"]);
  });

  test("refuses a tool whose name another section uses", async () => {
    const section = new ListedSection();
    const tools = [createTool("look", () => {})];
    const other = new MarkdownSection({ key: "other", title: "O", template: "O.", tools });
    let others: ReadonlySet<string> | undefined;
    section.onPrepare = (context) => {
      others = context.listOtherToolNames?.();
    };
    const running = scriptedClient().evaluate(createPrompt(other, section), {
      session: new Session(),
    });
    await expect(running).rejects.toThrow(
      'section "listed" tool must have a unique name, but section "other" also uses it',
    );
    expect([...(others ?? [])]).toEqual(["open_sections", "read_section", "look"]);
  });

  test("checks the names in policies after it has prepared the sections", async () => {
    const createGuarded = (tool: string) => {
      const section = new ListedSection();
      section.listed = ["look", "jump"];
      const policies = [sequentialDependency({ tool, after: ["look"] })];
      const sections = [section];
      return new Prompt(new PromptTemplate({ ns: "tests", key: "policy", sections, policies }));
    };
    const session = new Session();
    await scriptedClient(done).evaluate(createGuarded("jump"), { session });
    await expect(scriptedClient().evaluate(createGuarded("jmp"), { session })).rejects.toThrow(
      /must name tools of the template, not "jmp", .* Did you mean "jump"\?/,
    );
  });

  test("does not prepare it to return a stored answer", async () => {
    const section = new ListedSection();
    const prompt = createPrompt(section);
    const session = new Session({ id: "s", store: new MemorySessionStore() });
    const options = { session, resume: true, toolChoice: { type: "function", name: "look" } };
    await scriptedClient(call("look"), done).evaluate(prompt, options);
    section.names = [];
    section.onPrepare = () => Promise.reject(new Error("No server."));
    const { text } = await scriptedClient().evaluate(prompt, options);
    expect(text).toBe("Done.");
    expect(section.log).toEqual(["prepare", "release"]);
  });

  test("prepares nothing if only the visibility of another section changes", async () => {
    const section = new ListedSection();
    const more = new MarkdownSection({
      key: "more",
      title: "More",
      template: "Jump.",
      summary: "There is more.",
      visibility: "summary",
      tools: [createTool("jump", () => {})],
    });
    const client = scriptedClient(
      {
        toolCalls: [
          { name: "open_sections", arguments: { section_keys: ["more"], reason: "Jump." } },
        ],
      },
      call("jump"),
      done,
    );
    await client.evaluate(createPrompt(section, more), { session: new Session() });
    const names = client.asked[1]?.rendered.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["look", "jump"]));
    expect(section.log).toEqual(["prepare", "release"]);
  });

  test("releases the other sections and returns the answer if a release fails", async () => {
    class StuckSection extends ListedSection {
      override async release(): Promise<void> {
        throw new Error("It hangs.");
      }
    }
    const [stuck, other] = [new StuckSection("stuck"), new ListedSection("other")];
    other.listed = [];
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    const client = scriptedClient(done);
    const { text } = await client.evaluate(createPrompt(stuck, other), { session: new Session() });
    expect(text).toBe("Done.");
    expect(other.log).toEqual(["prepare", "release"]);
    expect(warned.mock.calls[0]?.[0]).toBe("A section failed to close: It hangs.");
  });
});

function createAbort(): { readonly signal: AbortSignal; abort(reason: Error): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}
