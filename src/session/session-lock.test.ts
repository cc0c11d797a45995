import { describe, expect, test } from "vitest";
import { asyncContext, SessionLock } from "./session-lock.ts";

const { signal } = new AbortController();

describe("whoever holds a session", () => {
  test("holds it alone; the others follow in the order they came", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} starts`);
      await turnOfTheLoop();
      log.push(`${name} ends`);
      return name;
    };
    const results = await Promise.all(["a", "b", "c"].map((name) => lock.hold(work(name))));
    expect(results).toEqual(["a", "b", "c"]);
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
  });

  test.each([
    ["rejecting", async () => Promise.reject(new Error("boom"))],
    [
      "throwing",
      () => {
        throw new Error("boom");
      },
    ],
  ])("lets the next one in by %s, too", async (_how, fail) => {
    const lock = new SessionLock();
    const failing = lock.hold(fail);
    const next = lock.hold(async () => "next");
    await expect(failing).rejects.toThrow("boom");
    await expect(next).resolves.toBe("next");
  });

  test("finds it free after it was let go", async () => {
    const lock = new SessionLock();
    await lock.hold(async () => "first");
    await expect(lock.hold(async () => "second")).resolves.toBe("second");
  });

  test("does not keep another session", async () => {
    const gate = Promise.withResolvers<void>();
    const held = new SessionLock().hold(() => gate.promise);
    await expect(new SessionLock().hold(async () => "free")).resolves.toBe("free");
    gate.resolve();
    await held;
  });
});

describe("an evaluation that a handler starts", () => {
  test("is within the handler's turn and does not wait for it", async () => {
    const lock = new SessionLock();
    expect(lock.tellsNested).toBe(true);
    const result = await lock.hold(() =>
      lock.nest(async () => {
        await turnOfTheLoop();
        return await lock.hold(async () => "inner");
      }, signal),
    );
    expect(result).toBe("inner");
  });

  test("may have handlers that start others", async () => {
    const lock = new SessionLock();
    const evaluation = (depth: number): Promise<number> =>
      lock.hold(() =>
        lock.nest(async () => (depth === 0 ? 0 : 1 + (await evaluation(depth - 1))), signal),
      );
    await expect(evaluation(20)).resolves.toBe(20);
  });

  test("waits for its siblings, in the order they came", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const sibling = (name: string) =>
      lock.hold(async () => {
        log.push(`${name} starts`);
        await turnOfTheLoop();
        log.push(`${name} ends`);
      });
    await lock.hold(() => lock.nest(() => Promise.all([sibling("a"), sibling("b")]), signal));
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends"]);
  });

  test("goes before who waits outside", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const outer = lock.hold(() =>
      lock.nest(async () => {
        await gate.promise;
        await lock.hold(async () => void log.push("inner"));
      }, signal),
    );
    const waiting = lock.hold(async () => void log.push("outside"));
    gate.resolve();
    await Promise.all([outer, waiting]);
    expect(log).toEqual(["inner", "outside"]);
  });

  test("may come back through another session", async () => {
    const one = new SessionLock();
    const other = new SessionLock();
    const result = one.hold(() =>
      one.nest(
        () => other.hold(() => other.nest(() => one.hold(async () => "back"), signal)),
        signal,
      ),
    );
    await expect(result).resolves.toBe("back");
  });

  test("is over before the handler's turn is, even if nobody awaited it", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.hold(async () => {
      await lock.nest(async () => {
        started.push(lock.hold(() => turnOfTheLoop().then(() => void log.push("inner ends"))));
      }, signal);
      log.push("turn ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["inner ends", "turn ends"]);
  });

  test("is not waited for once the evaluation is cancelled", async () => {
    const lock = new SessionLock();
    const controller = new AbortController();
    const gate = Promise.withResolvers<void>();
    const started: Promise<void>[] = [];
    const outer = lock.hold(() =>
      lock.nest(async () => {
        started.push(lock.hold(() => gate.promise));
        return "handled";
      }, controller.signal),
    );
    await turnOfTheLoop();
    controller.abort(new Error("left"));
    await expect(outer).resolves.toBe("handled"); // whether to go on is for the evaluation to say
    gate.resolve();
    await Promise.all(started);
  });

  test("waits its turn like anybody once the handler's is over", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const late: Promise<void>[] = [];
    await lock.hold(async () => {
      await lock.nest(async () => {
        late.push(gate.promise.then(() => lock.hold(async () => void log.push("late"))));
      }, signal);
      gate.resolve();
      await turnOfTheLoop();
      log.push("outer ends");
    });
    await Promise.all(late);
    expect(log).toEqual(["outer ends", "late"]);
  });
});

describe("work", () => {
  test("started between handlers waits its turn", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.hold(async () => {
      started.push(lock.hold(async () => void log.push("started between")));
      await turnOfTheLoop();
      await lock.nest(async () => void log.push("handler"), signal);
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["handler", "outer ends", "started between"]);
  });

  test("started between the handlers of a nested evaluation waits for the outermost", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.hold(async () => {
      const inner = async () => {
        started.push(lock.hold(async () => void log.push("started between")));
        await turnOfTheLoop();
      };
      await lock.nest(() => lock.hold(inner), signal);
      await turnOfTheLoop();
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["outer ends", "started between"]);
  });

  test("of a handler that fails is reported as it failed, and lets the next one in", async () => {
    const lock = new SessionLock();
    const failing = lock.hold(() =>
      lock.nest(async () => Promise.reject(new Error("boom")), signal),
    );
    await expect(failing).rejects.toThrow("boom");
    await expect(lock.hold(async () => "next")).resolves.toBe("next");
  });
});

describe("an abort", () => {
  test("while waiting ends the wait with its reason, and leaves the queue usable", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const controller = new AbortController();
    const first = lock.hold(() => gate.promise);
    const gone = lock.hold(async () => void log.push("gone"), { signal: controller.signal });
    const third = lock.hold(async () => void log.push("third"));
    const reason = { why: "left" };
    controller.abort(reason);
    await expect(gone).rejects.toBe(reason);
    await turnOfTheLoop();
    expect(log).toEqual([]); // the third one still waits for the first
    gate.resolve();
    await Promise.all([first, third]);
    expect(log).toEqual(["third"]);
  });

  test("before the wait means the work is never done, even if the session is free", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const aborted = AbortSignal.abort("left");
    const held = lock.hold(async () => void log.push("done"), { signal: aborted });
    await expect(held).rejects.toBe("left");
    await expect(lock.hold(async () => "next")).resolves.toBe("next");
    expect(log).toEqual([]);
  });

  test("of who holds it already is for the work to notice", async () => {
    const lock = new SessionLock();
    const controller = new AbortController();
    const held = lock.hold(
      async () => {
        controller.abort("left");
        await turnOfTheLoop();
        return "done";
      },
      { signal: controller.signal },
    );
    await expect(held).resolves.toBe("done");
  });
});

describe("where the runtime cannot follow a chain of calls", () => {
  const plainLock = () => new SessionLock(asyncContext(() => undefined));

  test("who says what it is within re-enters", async () => {
    const lock = plainLock();
    expect(lock.tellsNested).toBe(false);
    const result = await lock.hold(() =>
      lock.nest((within) => lock.hold(async () => "inner", { within }), signal),
    );
    expect(result).toBe("inner");
  });

  test("who does not say so waits its turn", async () => {
    const lock = plainLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.hold(async () => {
      await lock.nest(async () => {
        started.push(lock.hold(async () => void log.push("inner")));
        await turnOfTheLoop();
      }, signal);
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["outer ends", "inner"]);
  });

  test("a scope that is over, or not the lock's own, lets nobody in", async () => {
    const lock = plainLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.hold(async () => {
      const over = await lock.nest(async (scope) => scope, signal);
      expect(over.open).toBe(false);
      for (const within of [over, { open: true }]) {
        started.push(lock.hold(async () => void log.push("inner"), { within }));
      }
      await turnOfTheLoop();
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["outer ends", "inner", "inner"]);
  });
});

/** Lets everything run that can run by now; waits for no time to pass. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
