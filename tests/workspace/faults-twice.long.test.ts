import { readdirSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { EXPIRE, expire, type Form } from "../support/workspace/fault-stage.ts";
import { relayTo } from "../support/workspace/relay.ts";
import { hasBubblewrap, repository, workspaceStage } from "../support/workspace/stage.ts";
import { isTurn, replacementsToldIn, Story } from "../support/workspace/story.ts";

const CREATE = /^POST \/containers$/;
const RESPONSES = /^POST \/responses$/;
const forms: readonly Form[] = ["deleted", "expired"];

/** What an evaluation fails with. */
async function failureOf(evaluation: Promise<unknown>): Promise<unknown> {
  return await evaluation.then(
    () => null,
    (error: unknown) => error,
  );
}

/** Two deaths in one operation. */
const expired = (containerId: unknown) => ({
  name: "PromptEvaluationError",
  phase: "request",
  message: expect.stringMatching(/ is gone \(.*\): .*what was written is kept, try again/),
  cause: { name: "ContainerExpiredError", containerId },
});

describe.skipIf(!hasBubblewrap).each(["bootstrap", "files"] as const)(
  "with unpack %j a container",
  (unpack) => {
    it.for(forms)("that dies when it is new is replaced once, not twice (%s)", async (form) => {
      const story = await Story.begin({ unpack, form });
      const { stage } = story;
      stage.relay.strike({ on: CREATE, when: "after", times: 2, act: story.kill });
      const failure = await failureOf(stage.evaluate("One."));
      expect(failure).toMatchObject(expired(expect.stringMatching(/^cntr_/)));
      expect(stage.relay.requests.filter(({ path }) => path === "/containers")).toHaveLength(2);
      expect(stage.relay.requests.filter(isTurn)).toEqual([]);
      await story.all();
      await story.expectNothingLost();
    });

    it.for(forms)("that dies in a request is replaced once, not twice (%s)", async (form) => {
      const story = await Story.begin({ unpack, form });
      const { stage } = story;
      const { relay, section } = stage;
      relay.strike({
        on: RESPONSES,
        fits: isTurn,
        nth: 2,
        times: 2,
        when: "before",
        act: story.kill,
      });
      const failure = await failureOf(stage.evaluate("One."));
      const [replaced] = stage.told("ContainerReplaced");
      expect(failure).toMatchObject(expired(replaced?.replacedBy));
      expect(relay.requests.filter(({ path }) => path === "/containers")).toHaveLength(2);
      story.twinActs("first");
      story.twinNotes();
      expect(await section.filesystem.readText("p/note.md")).toBe("a note\n");
      await story.between();
      await story.two();
      await story.expectNothingLost();
      expect(stage.told("ContainerReplaced")).toHaveLength(2);
    });

    it("that dies in every turn is replaced in every turn, and the model told each time", async () => {
      const story = await Story.begin({ unpack, form: "deleted" });
      const { relay, told } = story.stage;
      for (const nth of [1, 3, 5]) {
        relay.strike({ on: RESPONSES, fits: isTurn, nth, when: "before", act: story.kill });
      }
      await story.all();
      await story.expectNothingLost();
      expect(told("ContainerReplaced")).toHaveLength(3);
      const turns = relay.requests.filter(isTurn).map((turn) => replacementsToldIn(turn).length);
      expect(turns).toEqual([0, 1, 1, 2, 0, 1]);
      expect(told("HistoryRepaired")).toHaveLength(1); // one code call was in a history
    });
  },
);

describe.skipIf(!hasBubblewrap)("a workspace's container", () => {
  const run = async (form: Form, deleteOnCleanup?: boolean) => {
    const section = { deleteOnCleanup };
    const inTool = (story: Story) => story.killNow();
    const story = await Story.begin({ unpack: "bootstrap", form, section, inTool });
    await story.one();
    const ids = [
      ...new Set(story.stage.relay.requests.map(({ containerId }) => containerId ?? "")),
    ];
    await story.stage.section.cleanup();
    const status = (id: string) =>
      story.stage.calls.status(id).catch((error: { status: number }) => error.status);
    return await Promise.all(ids.filter((id) => id !== "").map(status));
  };

  it("is left to expire when it is cleaned up", async () => {
    expect(await run("deleted")).toEqual([404, "running"]);
  });

  it("is deleted then where that is asked for, and so is one that was only useless", async () => {
    expect(await run("kernel", true)).toEqual([404, 404]);
  });

  it("leaves nothing temporary behind, however it died", async () => {
    const folder = repository({});
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const inTool = (story: Story) => story.killNow();
    const story = await Story.begin({ unpack: "bootstrap", form: "expired", inTool });
    await story.all();
    await story.stage.section.filesystem.snapshot();
    await story.stage.section.filesystem.writeText("p/a.txt", "kept for the snapshot\n");
    story.twin.write("p/a.txt", "kept for the snapshot\n");
    const during = readdirSync(folder).filter((name) => /^wink-(?:workspace|undo)-/.test(name));
    expect(during).toHaveLength(2);
    await story.expectNothingLost();
    const left = readdirSync(folder).filter((name) => /^wink-(?:workspace|undo)-/.test(name));
    expect(left).toEqual([]);
  });
});

describe.skipIf(!hasBubblewrap)("a container of the caller's", () => {
  it.for(forms)("is never replaced (%s)", async (form) => {
    const stage = await workspaceStage(({ text }) =>
      text === EXPIRE ? [{ expireContainer: true }, { say: "Gone." }] : [{ code: "print(1)" }],
    );
    const relay = await relayTo(stage.url);
    onTestFinished(() => relay[Symbol.asyncDispose]());
    const { id } = await stage.calls.create({ name: "mine" });
    const kill = async () =>
      await (form === "deleted" ? stage.calls.remove(id) : expire(stage.url, id));
    relay.strike({ on: RESPONSES, when: "before", act: kill });
    const adapter = new OpenAIAdapter({
      model: "local",
      clientConfig: { baseURL: relay.url, apiKey: "local" },
    });
    const hostedTools = [codeInterpreterTool({ container: { id } })];
    const sections = [
      new MarkdownSection({ key: "task", title: "Task", template: "Go.", hostedTools }),
    ];
    const prompt = new Prompt(new PromptTemplate({ ns: "tests", key: "mine", sections }));
    const failure = await failureOf(adapter.evaluate(prompt, { session: new Session() }));
    expect(failure).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/is gone .*: make a new one and give its id/),
      cause: { name: "ContainerExpiredError", containerId: id },
    });
    expect(relay.requests.some(({ path }) => path === "/containers")).toBe(false);
  });
});
