import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { copyStore } from "../../../tests/support/resume/reopen-session.ts";
import {
  createInterceptionFixture,
  type InterceptionFixture,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository } from "../../../tests/support/workspace/workspace-fixture.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";

const script = ({ items }: { readonly items: readonly object[] }) =>
  items.some((item) => Object(item).type === "code_interpreter_call")
    ? [{ say: "Done." }]
    : [{ code: "open('/mnt/data/new.txt', 'w').write('new') and None" }];

const createStage = (hostedTools?: null) =>
  createInterceptionFixture(script, {
    adapter: { compaction: { zdrMode: true }, ...(hostedTools === null && { hostedTools }) },
  });

/** Opens session "run" as another process would. */
const openSession = (store: MemorySessionStore) =>
  Session.openOrCreate(store, "run", [], { bus: recordingBus() });

/** Returns the store's content when the provider is first asked for this, as if the process died then. */
function copyAt(stage: InterceptionFixture, store: MemorySessionStore, asked: RegExp) {
  let copy: MemorySessionStore | null = null;
  stage.intercept(({ method, path }) => {
    if (asked.test(`${method} ${path}`)) copy ??= copyStore(store);
    return null;
  });
  return () => copy ?? new MemorySessionStore();
}

/** Returns the ids of the containers that still exist. */
async function filterExisting({ calls }: InterceptionFixture, ids: readonly string[]) {
  const found = await Promise.all(ids.map((id) => calls.getStatus(id).catch(() => null)));
  return ids.filter((_, index) => found[index] !== null);
}

describe("containers that a process left with zero data retention", () => {
  test("are deleted by the next process if they were recorded and never filled", async () => {
    const stage = await createStage();
    const mounts = [{ hostPath: createRepository({ "a.txt": "one" }), mountPath: "p" }];
    const store = new MemorySessionStore();
    const getCopy = copyAt(stage, store, /^POST \/containers\/\w+\/files$/);
    const first = new Session({ id: "run", store, bus: recordingBus() });
    const left = stage.createSection({ session: first, mounts });
    await stage.evaluate(left, { session: first });
    const session = await openSession(getCopy());
    const section = stage.createSection({ session, mounts });
    await stage.evaluate(section, { session, resume: true });
    const ids = [left.containerId ?? "", section.containerId ?? ""];
    expect(await filterExisting(stage, ids)).toEqual([section.containerId]);
    await section.cleanup();
    expect(await filterExisting(stage, ids)).toEqual([]);
  });

  test("are deleted if the provider created them and the answer is stored", async () => {
    const stage = await createStage(null);
    const store = new MemorySessionStore();
    let isDead = true;
    stage.intercept(({ method }) =>
      isDead && method === "DELETE" ? { status: 403, body: '{"error":{"message":"No."}}' } : null,
    );
    const hostedTools = [codeInterpreterTool()];
    const bus = recordingBus();
    const first = new Session({ id: "run", store, bus });
    await stage.evaluate([], { session: first, hostedTools });
    await first.close();
    const ids = bus.of("DataHeld").map(({ containerId }) => containerId);
    expect(await filterExisting(stage, ids)).toHaveLength(1);
    isDead = false;
    const session = await openSession(copyStore(store));
    const { text } = await stage.evaluate([], { session, hostedTools, resume: true });
    expect(text).toBe("Done.");
    expect(await filterExisting(stage, ids)).toEqual([]);
  });

  test("are used again or deleted if a section was never cleaned up and no request follows", async () => {
    const stage = await createStage();
    const mounts = [{ hostPath: createRepository({ "a.txt": "one" }), mountPath: "p" }];
    const store = new MemorySessionStore();
    const first = new Session({ id: "run", store, bus: recordingBus() });
    const left = stage.createSection({ session: first, mounts, syncOnCleanup: true });
    await stage.evaluate(left, { session: first });
    await first.close();
    const session = await openSession(copyStore(store));
    const section = stage.createSection({ session, mounts, syncOnCleanup: true });
    await stage.evaluate(section, { session, resume: true });
    expect(await section.cleanup()).toMatchObject({ added: ["new.txt"], failed: [] });
    expect(await filterExisting(stage, [left.containerId ?? ""])).toEqual([]);
  });
});
