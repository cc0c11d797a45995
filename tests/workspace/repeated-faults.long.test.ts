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
import {
  type ContainerFault,
  EXPIRE,
  expireContainer,
} from "../support/workspace/container-fault-fixture.ts";
import { startFaultRelay } from "../support/workspace/fault-relay.ts";
import {
  FaultScenario,
  isConversationRequest,
  readReplacementNotes,
} from "../support/workspace/fault-scenario.ts";
import {
  createRepository,
  createWorkspaceFixture,
  hasBubblewrap,
} from "../support/workspace/workspace-fixture.ts";

const CREATE = /^POST \/containers$/;
const RESPONSES = /^POST \/responses$/;
const faults: readonly ContainerFault[] = ["deleted", "expired"];

/** Returns the error of an evaluation. */
async function catchError(evaluation: Promise<unknown>): Promise<unknown> {
  return await evaluation.then(
    () => null,
    (error: unknown) => error,
  );
}

/** Matches the error after two lost containers in one operation. */
const matchExpiredError = (containerId: unknown) => ({
  name: "PromptEvaluationError",
  phase: "request",
  message: expect.stringMatching(
    / no longer exists \(.*\)\. Try again: .*everything written is kept/,
  ),
  cause: { name: "ContainerExpiredError", containerId },
});

describe.skipIf(!hasBubblewrap).each(["bootstrap", "files"] as const)(
  "with unpack %j a lost container",
  (unpack) => {
    it.for(faults)(
      "that was just created is replaced once per operation, not twice (%s)",
      async (form) => {
        const scenario = await FaultScenario.start({ unpack, fault: form });
        const { fixture } = scenario;
        fixture.relay.injectFault({ on: CREATE, when: "after", times: 2, act: scenario.kill });
        const failure = await catchError(fixture.evaluate("One."));
        expect(failure).toMatchObject(matchExpiredError(expect.stringMatching(/^cntr_/)));
        expect(fixture.relay.requests.filter(({ path }) => path === "/containers")).toHaveLength(2);
        expect(fixture.relay.requests.filter(isConversationRequest)).toEqual([]);
        await scenario.runAll();
        await scenario.expectNothingLost();
      },
    );

    it.for(faults)(
      "that fails during a request is replaced once per operation, not twice (%s)",
      async (form) => {
        const scenario = await FaultScenario.start({ unpack, fault: form });
        const { fixture } = scenario;
        const { relay, section } = fixture;
        relay.injectFault({
          on: RESPONSES,
          matches: isConversationRequest,
          nth: 2,
          times: 2,
          when: "before",
          act: scenario.kill,
        });
        const failure = await catchError(fixture.evaluate("One."));
        const [replaced] = fixture.findEvents("ContainerReplaced");
        expect(failure).toMatchObject(matchExpiredError(replaced?.replacedBy));
        expect(relay.requests.filter(({ path }) => path === "/containers")).toHaveLength(2);
        scenario.applyToReference("first");
        scenario.applyNoteToReference();
        expect(await section.filesystem.readText("p/note.md")).toBe("a note\n");
        await scenario.writeBetween();
        await scenario.evaluateSecond();
        await scenario.expectNothingLost();
        expect(fixture.findEvents("ContainerReplaced")).toHaveLength(2);
      },
    );

    it("is replaced in every turn it fails in, and the model is informed each time", async () => {
      const scenario = await FaultScenario.start({ unpack, fault: "deleted" });
      const { relay, findEvents } = scenario.fixture;
      for (const nth of [1, 3, 5]) {
        relay.injectFault({
          on: RESPONSES,
          matches: isConversationRequest,
          nth,
          when: "before",
          act: scenario.kill,
        });
      }
      await scenario.runAll();
      await scenario.expectNothingLost();
      expect(findEvents("ContainerReplaced")).toHaveLength(3);
      const turns = relay.requests
        .filter(isConversationRequest)
        .map((turn) => readReplacementNotes(turn).length);
      expect(turns).toEqual([0, 1, 1, 2, 0, 1]);
      expect(findEvents("HistoryRepaired")).toHaveLength(1); // only one code call was in the history
    });
  },
);

describe.skipIf(!hasBubblewrap)("the container of a workspace", () => {
  const run = async (form: ContainerFault, deleteOnCleanup?: boolean) => {
    const section = { deleteOnCleanup };
    const inTool = (scenario: FaultScenario) => scenario.killCurrent();
    const scenario = await FaultScenario.start({
      unpack: "bootstrap",
      fault: form,
      section,
      inTool,
    });
    await scenario.evaluateFirst();
    const ids = [
      ...new Set(scenario.fixture.relay.requests.map(({ containerId }) => containerId ?? "")),
    ];
    await scenario.fixture.section.cleanup();
    const status = (id: string) =>
      scenario.fixture.calls.getStatus(id).catch((error: { status: number }) => error.status);
    return await Promise.all(ids.filter((id) => id !== "").map(status));
  };

  it("is not deleted on cleanup by default", async () => {
    expect(await run("deleted")).toEqual([404, "running"]);
  });

  it("is deleted on cleanup with deleteOnCleanup, including one without an interpreter", async () => {
    expect(await run("kernel", true)).toEqual([404, 404]);
  });

  it("leaves no temporary files behind after it was lost", async () => {
    const folder = createRepository({});
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const inTool = (scenario: FaultScenario) => scenario.killCurrent();
    const scenario = await FaultScenario.start({ unpack: "bootstrap", fault: "expired", inTool });
    await scenario.runAll();
    await scenario.fixture.section.filesystem.snapshot();
    await scenario.fixture.section.filesystem.writeText("p/a.txt", "kept for the snapshot\n");
    scenario.reference.write("p/a.txt", "kept for the snapshot\n");
    const during = readdirSync(folder).filter((name) => /^wink-(?:workspace|undo)-/.test(name));
    expect(during).toHaveLength(2);
    await scenario.expectNothingLost();
    const left = readdirSync(folder).filter((name) => /^wink-(?:workspace|undo)-/.test(name));
    expect(left).toEqual([]);
  });
});

describe.skipIf(!hasBubblewrap)("a container that the caller created", () => {
  it.for(faults)("is never replaced (%s)", async (form) => {
    const fixture = await createWorkspaceFixture(({ text }) =>
      text === EXPIRE ? [{ expireContainer: true }, { say: "Gone." }] : [{ code: "print(1)" }],
    );
    const relay = await startFaultRelay(fixture.url);
    onTestFinished(() => relay[Symbol.asyncDispose]());
    const { id } = await fixture.calls.create({ name: "mine" });
    const kill = async () =>
      await (form === "deleted" ? fixture.calls.remove(id) : expireContainer(fixture.url, id));
    relay.injectFault({ on: RESPONSES, when: "before", act: kill });
    const adapter = new OpenAIAdapter({
      model: "local",
      clientConfig: { baseURL: relay.url, apiKey: "local" },
    });
    const hostedTools = [codeInterpreterTool({ container: { id } })];
    const sections = [
      new MarkdownSection({ key: "task", title: "Task", template: "Go.", hostedTools }),
    ];
    const prompt = new Prompt(new PromptTemplate({ ns: "tests", key: "mine", sections }));
    const failure = await catchError(adapter.evaluate(prompt, { session: new Session() }));
    expect(failure).toMatchObject({
      name: "PromptEvaluationError",
      message: expect.stringMatching(/no longer exists .*\. Create a new one and pass its id/),
      cause: { name: "ContainerExpiredError", containerId: id },
    });
    expect(relay.requests.some(({ path }) => path === "/containers")).toBe(false);
  });
});
