import { describe, expect, test } from "vitest";
import { looks, managerStage } from "../../../tests/support/workspace/manager-stage.ts";

describe("a container that dies while it is filled", () => {
  test("is replaced, and nothing is said to have been done in it", async () => {
    const at = await managerStage();
    const filled: string[] = [];
    const { manager, replacements } = at.filling(async (id) => {
      filled.push(id);
      if (filled.length === 1) await at.calls.remove(id);
      await looks(at)(id);
    });
    const id = await manager.ensure();
    expect(filled).toEqual([expect.any(String), id]);
    expect(replacements).toMatchObject([
      { containerId: filled[0], replacedBy: id, hasServed: false },
    ]);
  });

  test("is replaced once: the second time that is an error, and it can be tried again", async () => {
    const at = await managerStage();
    const filled: string[] = [];
    const { manager, replacements } = at.filling(async (id) => {
      filled.push(id);
      if (filled.length <= 2) await at.calls.remove(id);
      await looks(at)(id);
    });
    const failures = await Promise.all(
      [1, 2].map(() => manager.ensure().catch((error: unknown) => error)),
    );
    expect(failures[0]).toBe(failures[1]);
    expect(failures[0]).toMatchObject({
      name: "ContainerExpiredError",
      containerId: filled[0],
      cause: { status: 404 },
    });
    expect([at.made, manager.state, replacements]).toEqual([2, "lost", []]);
    expect(await manager.ensure()).toBe(filled[2]);
    expect(replacements).toMatchObject([{ containerId: filled[0], replacedBy: filled[2] }]);
  });

  test("in the place of one that was used is not replaced", async () => {
    const at = await managerStage();
    let isDying = false;
    const { manager } = at.filling(async (id) => {
      if (isDying) await at.calls.remove(id);
      await looks(at)(id);
    });
    const first = await manager.ensure();
    isDying = true;
    await at.calls.remove(first);
    await expect(manager.use(looks(at))).rejects.toMatchObject({
      name: "ContainerExpiredError",
      containerId: first,
    });
    expect(at.made).toBe(2);
  });
});

describe("a container that cannot be made", () => {
  test("because the provider speaks of another fails as the request does", async () => {
    const at = await managerStage();
    const error = { message: "Container is expired." };
    at.relay.answerBy(() => ({ status: 400, json: { error } }));
    const { manager } = at.filling(async () => {});
    await expect(manager.ensure()).rejects.toMatchObject({
      name: "OpenAIRequestError",
      status: 400,
    });
    expect([at.made, manager.state]).toEqual([2, "absent"]);
  });
});

describe("a container that cannot be filled", () => {
  test("is deleted, and why it could not is said", async () => {
    const at = await managerStage();
    const ids: string[] = [];
    const problem = new Error("The disk is full.");
    const { manager } = at.filling(async (id) => {
      ids.push(id);
      if (ids.length === 1) throw problem;
    });
    await expect(manager.ensure()).rejects.toBe(problem);
    expect([manager.state, await at.statusOf(ids[0] ?? "")]).toEqual(["absent", 404]);
    expect(await manager.ensure()).toBe(ids[1]);
  });

  test("and cannot be deleted either is left, and why it could not be filled is said", async () => {
    const at = await managerStage();
    at.relay.answerBy(({ method }) =>
      method === "DELETE" ? { status: 500, json: { error: { message: "Later." } } } : null,
    );
    const ids: string[] = [];
    const { manager } = at.filling(async (id) => {
      ids.push(id);
      throw new Error("The disk is full.");
    });
    await expect(manager.ensure()).rejects.toThrow("The disk is full.");
    expect(await at.statusOf(ids[0] ?? "")).toBe("running");
  });
});

describe("somebody who waits for a container", () => {
  test("may go, and the others get it", async () => {
    const at = await managerStage();
    const filling = Promise.withResolvers<void>();
    const { manager } = at.filling(() => filling.promise);
    const gone = new AbortController();
    const going = manager.ensure({ signal: gone.signal });
    const using = manager.use(async (id) => id, { signal: gone.signal });
    const staying = manager.ensure();
    gone.abort(new Error("I have gone."));
    await expect(going).rejects.toThrow("I have gone.");
    await expect(using).rejects.toThrow("I have gone.");
    filling.resolve();
    expect(await staying).toBe(manager.containerId);
    expect([at.made, await at.statusOf(manager.containerId)]).toEqual([1, "running"]);
  });

  test("who has gone already has none made", async () => {
    const at = await managerStage();
    const manager = at.manager();
    const signal = AbortSignal.abort(new Error("I have gone."));
    await expect(manager.ensure({ signal })).rejects.toThrow("I have gone.");
    expect([manager.state, at.made]).toEqual(["absent", 0]);
  });
});

describe("a container manager that is released", () => {
  const words = "The container was released: make a new workspace";

  test("leaves its container, or deletes it, and those that were lost, where it is told to", async () => {
    const at = await managerStage();
    const [left, deleted] = [at.manager(), at.manager()];
    await at.manager().release({ remove: true }); // there is none
    const [one, lost] = [await left.ensure(), await deleted.ensure()];
    deleted.lose(lost, new Error("It would not run code."));
    const two = await deleted.ensure();
    await left.release();
    await deleted.release({ remove: true });
    expect([await at.statusOf(one), await at.statusOf(two)]).toEqual(["running", 404]);
    expect(await at.statusOf(lost)).toBe(404);
    expect([left.containerId, left.state]).toEqual([null, "released"]);
  });

  test("makes none any more, whatever happens", async () => {
    const at = await managerStage();
    const manager = at.manager();
    const id = await manager.ensure();
    await manager.release();
    await manager.release({ remove: true });
    await expect(manager.ensure()).rejects.toThrow(words);
    await expect(manager.use(async () => {})).rejects.toThrow(words);
    manager.lose(id, new Error("It is gone."));
    manager.adopt("cntr_other");
    expect([manager.state, manager.containerId, at.made]).toEqual(["released", null, 1]);
  });

  test("while it makes one deletes that, and tells those who wait", async () => {
    const at = await managerStage();
    const begun = Promise.withResolvers<string>();
    const { manager } = at.filling(async (id, step, signal) => {
      begun.resolve(id);
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      step("unpacking");
    });
    const waiting = manager.ensure().catch((error: unknown) => error);
    const id = await begun.promise;
    await manager.release();
    expect(await waiting).toMatchObject({ message: words });
    expect([manager.state, await at.statusOf(id)]).toEqual(["released", 404]);
  });

  test("while it fills one that does not listen stays released", async () => {
    const at = await managerStage();
    const [begun, filled] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    const { manager } = at.filling(async (id, step) => {
      begun.resolve(id);
      await filled.promise;
      step("unpacking");
    });
    const waiting = manager.ensure().catch((error: unknown) => error);
    const id = await begun.promise;
    const released = manager.release();
    filled.resolve();
    await released;
    expect(await waiting).toMatchObject({ message: words });
    expect([manager.state, manager.containerId]).toEqual(["released", null]);
    expect(await at.statusOf(id)).toBe(404);
  });
});

describe("a container that the provider made", () => {
  test("is taken as its own, and replaced by one of ours", async () => {
    const at = await managerStage();
    const { manager, replacements } = at.filling(async () => {});
    const { id } = await at.calls.create({ name: "theirs" });
    manager.adopt(id);
    expect([manager.state, await manager.ensure(), at.made]).toEqual(["ready", id, 0]);
    await at.calls.remove(id);
    const next = await manager.use(looks(at));
    expect(replacements).toMatchObject([{ containerId: id, replacedBy: next, hasServed: true }]);
  });

  test("may stand in for one that is lost", async () => {
    const at = await managerStage();
    const { manager, replacements } = at.filling(async () => {});
    const first = await manager.ensure();
    manager.lose("cntr_other", new Error("Another one is gone."));
    expect(manager.containerId).toBe(first);
    manager.lose(first, new Error("It is gone."));
    manager.adopt("cntr_theirs");
    expect([manager.state, manager.containerId]).toEqual(["ready", "cntr_theirs"]);
    expect(replacements).toEqual([
      { containerId: first, replacedBy: "cntr_theirs", reason: "It is gone.", hasServed: true },
    ]);
  });
});
