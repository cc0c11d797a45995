import { describe, expect, test } from "vitest";
import {
  createContainerManagerFixture,
  createListOperation,
} from "../../../tests/support/workspace/container-manager-fixture.ts";

describe("a container that is lost while it is filled", () => {
  test("is replaced, and counts as never used", async () => {
    const stage = await createContainerManagerFixture();
    const filled: string[] = [];
    const { manager, replacements } = stage.createFilledContainer(async (id) => {
      filled.push(id);
      if (filled.length === 1) await stage.calls.remove(id);
      await createListOperation(stage)(id);
    });
    const id = await manager.ensure();
    expect(filled).toEqual([expect.any(String), id]);
    expect(replacements).toMatchObject([
      { containerId: filled[0], replacedBy: id, hasServed: false },
    ]);
  });

  test("is replaced once, fails the second time and can be retried", async () => {
    const stage = await createContainerManagerFixture();
    const filled: string[] = [];
    const { manager, replacements } = stage.createFilledContainer(async (id) => {
      filled.push(id);
      if (filled.length <= 2) await stage.calls.remove(id);
      await createListOperation(stage)(id);
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
    expect([stage.createdCount, manager.state, replacements]).toEqual([2, "lost", []]);
    expect(await manager.ensure()).toBe(filled[2]);
    expect(replacements).toMatchObject([{ containerId: filled[0], replacedBy: filled[2] }]);
  });

  test("is not replaced if it is already a replacement", async () => {
    const stage = await createContainerManagerFixture();
    let isDying = false;
    const { manager } = stage.createFilledContainer(async (id) => {
      if (isDying) await stage.calls.remove(id);
      await createListOperation(stage)(id);
    });
    const first = await manager.ensure();
    isDying = true;
    await stage.calls.remove(first);
    await expect(manager.use(createListOperation(stage))).rejects.toMatchObject({
      name: "ContainerExpiredError",
      containerId: first,
    });
    expect(stage.createdCount).toBe(2);
  });
});

describe("a container that cannot be created", () => {
  test("throws the request's error, even if it mentions an expired container", async () => {
    const stage = await createContainerManagerFixture();
    const error = { message: "Container is expired." };
    stage.relay.respondWith(() => ({ status: 400, json: { error } }));
    const { manager } = stage.createFilledContainer(async () => {});
    await expect(manager.ensure()).rejects.toMatchObject({
      name: "OpenAIRequestError",
      status: 400,
    });
    expect([stage.createdCount, manager.state]).toEqual([2, "absent"]);
  });
});

describe("a container that cannot be filled", () => {
  test("is deleted, and the error is thrown", async () => {
    const stage = await createContainerManagerFixture();
    const ids: string[] = [];
    const problem = new Error("The disk is full.");
    const { manager } = stage.createFilledContainer(async (id) => {
      ids.push(id);
      if (ids.length === 1) throw problem;
    });
    await expect(manager.ensure()).rejects.toBe(problem);
    expect([manager.state, await stage.readStatus(ids[0] ?? "")]).toEqual(["absent", 404]);
    expect(await manager.ensure()).toBe(ids[1]);
  });

  test("throws the fill error even if the container cannot be deleted", async () => {
    const stage = await createContainerManagerFixture();
    stage.relay.respondWith(({ method }) =>
      method === "DELETE" ? { status: 500, json: { error: { message: "Later." } } } : null,
    );
    const ids: string[] = [];
    const { manager } = stage.createFilledContainer(async (id) => {
      ids.push(id);
      throw new Error("The disk is full.");
    });
    await expect(manager.ensure()).rejects.toThrow("The disk is full.");
    expect(await stage.readStatus(ids[0] ?? "")).toBe("running");
  });
});

describe("a caller that waits for a container", () => {
  test("can abort without affecting the other callers", async () => {
    const stage = await createContainerManagerFixture();
    const filling = Promise.withResolvers<void>();
    const { manager } = stage.createFilledContainer(() => filling.promise);
    const aborted = new AbortController();
    const aborting = manager.ensure({ signal: aborted.signal });
    const using = manager.use(async (id) => id, { signal: aborted.signal });
    const staying = manager.ensure();
    aborted.abort(new Error("Aborted."));
    await expect(aborting).rejects.toThrow("Aborted.");
    await expect(using).rejects.toThrow("Aborted.");
    filling.resolve();
    expect(await staying).toBe(manager.containerId);
    expect([stage.createdCount, await stage.readStatus(manager.containerId)]).toEqual([
      1,
      "running",
    ]);
  });

  test("creates nothing if its signal is already aborted", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    const signal = AbortSignal.abort(new Error("Aborted."));
    await expect(manager.ensure({ signal })).rejects.toThrow("Aborted.");
    expect([manager.state, stage.createdCount]).toEqual(["absent", 0]);
  });
});

describe("ContainerManager.release()", () => {
  const message = "The container was released. Create a new workspace.";

  test("keeps the container, or deletes it and lost ones with remove: true", async () => {
    const stage = await createContainerManagerFixture();
    const [kept, deleted] = [stage.createManager(), stage.createManager()];
    await stage.createManager().release({ remove: true }); // without a container
    const [one, lost] = [await kept.ensure(), await deleted.ensure()];
    deleted.lose(lost, new Error("It would not run code."));
    const two = await deleted.ensure();
    await kept.release();
    await deleted.release({ remove: true });
    expect([await stage.readStatus(one), await stage.readStatus(two)]).toEqual(["running", 404]);
    expect(await stage.readStatus(lost)).toBe(404);
    expect([kept.containerId, kept.state]).toEqual([null, "released"]);
  });

  test("prevents any later use", async () => {
    const stage = await createContainerManagerFixture();
    const manager = stage.createManager();
    const id = await manager.ensure();
    await manager.release();
    await manager.release({ remove: true });
    await expect(manager.ensure()).rejects.toThrow(message);
    await expect(manager.use(async () => {})).rejects.toThrow(message);
    manager.lose(id, new Error("It is gone."));
    manager.adopt("cntr_other");
    expect([manager.state, manager.containerId, stage.createdCount]).toEqual(["released", null, 1]);
  });

  test("aborts a running creation, deletes its container and rejects the waiting callers", async () => {
    const stage = await createContainerManagerFixture();
    const started = Promise.withResolvers<string>();
    const { manager } = stage.createFilledContainer(async (id, step, signal) => {
      started.resolve(id);
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      step("unpacking");
    });
    const waiting = manager.ensure().catch((error: unknown) => error);
    const id = await started.promise;
    await manager.release();
    expect(await waiting).toMatchObject({ message });
    expect([manager.state, await stage.readStatus(id)]).toEqual(["released", 404]);
  });

  test("stays released when a running fill ignores the signal", async () => {
    const stage = await createContainerManagerFixture();
    const [started, filled] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    const { manager } = stage.createFilledContainer(async (id, step) => {
      started.resolve(id);
      await filled.promise;
      step("unpacking");
    });
    const waiting = manager.ensure().catch((error: unknown) => error);
    const id = await started.promise;
    const released = manager.release();
    filled.resolve();
    await released;
    expect(await waiting).toMatchObject({ message });
    expect([manager.state, manager.containerId]).toEqual(["released", null]);
    expect(await stage.readStatus(id)).toBe(404);
  });
});

describe("a container that the provider created", () => {
  test("is adopted, and replaced by a new container when it is lost", async () => {
    const stage = await createContainerManagerFixture();
    const { manager, replacements } = stage.createFilledContainer(async () => {});
    const { id } = await stage.calls.create({ name: "theirs" });
    manager.adopt(id);
    expect([manager.state, await manager.ensure(), stage.createdCount]).toEqual(["ready", id, 0]);
    await stage.calls.remove(id);
    const next = await manager.use(createListOperation(stage));
    expect(replacements).toMatchObject([{ containerId: id, replacedBy: next, hasServed: true }]);
  });

  test("can replace a lost container", async () => {
    const stage = await createContainerManagerFixture();
    const { manager, replacements } = stage.createFilledContainer(async () => {});
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
