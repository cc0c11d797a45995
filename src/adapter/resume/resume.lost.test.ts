import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { copyStore, reopenSession } from "../../../tests/support/resume/reopen-session.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { Session } from "../../session/session.ts";
import { type ScriptStep, scriptedClient } from "../../testing/scripted-client.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import type { DelegatedCall } from "../model-client.ts";
import { earlierTurnsSlice } from "./earlier-turns.ts";

declare module "../../session/event-map.ts" {
  interface EventMap {
    LineWritten: { readonly type: "LineWritten"; readonly text: string };
  }
}

const notesSlice = defineSlice<readonly string[]>("test.notes", {
  initial: [],
  on: { LineWritten: (notes, { text }) => [...notes, text] },
});

const patchTool = new HostedTool({
  kind: "patch",
  name: "patch",
  description: "Patches.",
  config: {},
});

function createPrompt(tools: readonly Tool[] = []): Prompt {
  const options = { key: "task", title: "Task", template: "Go.", tools, hostedTools: [patchTool] };
  const sections = [new MarkdownSection(options)];
  return new Prompt(new PromptTemplate({ ns: "test", key: "run", sections }));
}

/** Runs a script; `lose` copies the store as a killed process would leave it. */
async function runLost(prompt: Prompt, createSteps: (lose: () => Promise<void>) => ScriptStep[]) {
  const store = new MemorySessionStore();
  const session = await reopenSession(store);
  let lost = store;
  const lose = async () => {
    await session.flush();
    lost = copyStore(store);
  };
  await scriptedClient(...createSteps(lose)).evaluate(prompt, { session });
  return lost;
}

function delegate(run: DelegatedCall["run"]): ScriptStep {
  const call = { name: "patch", kind: "patch", callId: "p1", params: { file: "a" } };
  return { delegatedCalls: [{ ...call, raw: { type: "patch" }, run }] };
}

const patched = { output: { lines: 2 }, success: true, message: "Patched." };

describe("after the process was lost", () => {
  test("changes of a running call are rolled back before it runs again", async () => {
    const store = new MemorySessionStore();
    const session = await Session.openOrCreate(store, "s", [notesSlice]);
    let lost: MemorySessionStore | null = null;
    const note = new Tool<never, unknown>({
      name: "note",
      description: "Notes.",
      params: null,
      effects: "idempotent",
      handler: async (_, context) => {
        context.session.dispatch({ type: "LineWritten", text: lost ? "second" : "first" });
        await session.flush();
        lost ??= copyStore(store);
        return ToolResult.ok("noted");
      },
    });
    const prompt = createPrompt([note]);
    const calls = { toolCalls: [{ name: "note" }] };
    await scriptedClient(calls, { text: "Done." }).evaluate(prompt, { session });
    expect(session.get(notesSlice)).toEqual(["first"]);
    const again = await Session.open(lost ?? store, "s", [notesSlice]);
    expect(again.get(notesSlice)).toEqual(["first"]);
    const client = scriptedClient({ text: "Done." });
    await client.evaluate(prompt, { session: again, resume: true });
    expect(again.get(notesSlice)).toEqual(["second"]);
    expect(client.asked[0]?.answers.map(({ text }) => text)).toEqual(["OK\n\nnoted"]);
  });

  test("a delegated call that was answered is not run again, and its output is in the response", async () => {
    const prompt = createPrompt();
    const store = await runLost(prompt, (lose) => [
      delegate(async () => patched),
      async () => {
        await lose();
        return { text: "Done." };
      },
    ]);
    const client = scriptedClient({ toolCalls: [{ name: "gone" }] }, new Error("stopped"));
    const session = await reopenSession(store);
    await expect(client.evaluate(prompt, { session, resume: true })).rejects.toThrow("stopped");
    const params = { file: "a" };
    expect(client.asked[0]?.delegatedResults).toMatchObject([{ ...patched, params }]);
    const last = scriptedClient({ text: "Done." });
    const options = { session: await reopenSession(store), resume: true };
    const response = await last.evaluate(prompt, options);
    expect(last.asked.map(({ turn }) => turn)).toEqual([3]);
    expect(response.hostedCalls).toMatchObject([{ ...patched, params }]);
    expect(response.hostedOutputs.get("patch")).toEqual({ lines: 2 });
  });

  test("a delegated call that was started is not run again, and its outcome is unknown", async () => {
    const prompt = createPrompt();
    const store = await runLost(prompt, (lose) => [
      delegate(async () => {
        await lose();
        return patched;
      }),
      { text: "Done." },
    ]);
    const client = scriptedClient({ text: "Done." });
    await client.evaluate(prompt, { session: await reopenSession(store), resume: true });
    const [result] = client.asked[0]?.delegatedResults ?? [];
    expect(result).toMatchObject({ success: false, output: null });
    expect(result?.message).toMatch(/Whether it took effect is not known/);
  });

  test("a script's delegated call that was not started fails, because scripts are not stored", async () => {
    const prompt = createPrompt();
    const turnStored = new MemorySessionStore();
    const done = delegate(async () => patched);
    const session = await reopenSession(turnStored);
    session.bus.subscribe("ToolStarted", () => {
      turnStored.failure = new Error("killed");
    });
    const killed = scriptedClient(done).evaluate(prompt, { session });
    await expect(killed).rejects.toMatchObject({ phase: "store" });
    turnStored.failure = null;
    const client = scriptedClient({ text: "Done." });
    const options = { session: await reopenSession(turnStored), resume: true };
    await client.evaluate(prompt, options);
    expect(client.asked[0]?.delegatedResults[0]?.message).toMatch(/cannot run a delegated call/);
  });

  test("a response that was submitted is fetched, unless it was submitted again", async () => {
    const prompt = createPrompt();
    const findSubmitted = async (isGone: boolean) => {
      const store = await runLost(prompt, (lose) => [
        async ({ onSubmitted, onResubmitted }) => {
          await onSubmitted?.("resp_1");
          if (isGone) onResubmitted?.("resp_1");
          await lose();
          return { text: "Done." };
        },
      ]);
      const client = scriptedClient({ text: "Done." });
      await client.evaluate(prompt, { session: await reopenSession(store), resume: true });
      return client.asked[0]?.submittedId;
    };
    expect(await findSubmitted(false)).toBe("resp_1");
    expect(await findSubmitted(true)).toBeUndefined();
  });
});

test("earlierTurnsSlice continues after the state of a checkpoint, and refuses other values", () => {
  const turns = [{ kind: "turn", turn: 1 }];
  const loaded = earlierTurnsSlice.load(turns);
  if (typeof loaded === "string") throw new Error(loaded);
  expect(earlierTurnsSlice.read(loaded.kept)).toEqual(turns);
  const origin = "hosted";
  const call = { type: "ToolInvoked", callId: "c9", params: null, result: null, origin };
  const next = earlierTurnsSlice.reduce(loaded.kept, call as never);
  expect(earlierTurnsSlice.read(next)).toMatchObject([...turns, { kind: "call", callId: "c9" }]);
  for (const state of [5, {}, ["turn"]]) {
    expect(earlierTurnsSlice.load(state)).toBe("its state is not an array of turns");
  }
});
