import { describe, expect, test } from "vitest";
import { createAsyncContext } from "../base/call-fence.ts";
import { SessionLock } from "./session-lock.ts";

const { signal } = new AbortController();

describe("SessionLock.runExclusive()", () => {
  test("runs one at a time, in order", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} starts`);
      await waitForCallbacks();
      log.push(`${name} ends`);
      return name;
    };
    const results = await Promise.all(["a", "b", "c"].map((name) => lock.runExclusive(work(name))));
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
  ])("admits the next after %s", async (_how, fail) => {
    const lock = new SessionLock();
    const failing = lock.runExclusive(fail);
    const next = lock.runExclusive(async () => "next");
    await expect(failing).rejects.toThrow("boom");
    await expect(next).resolves.toBe("next");
  });

  test("can be called again after it was released", async () => {
    const lock = new SessionLock();
    await lock.runExclusive(async () => "first");
    await expect(lock.runExclusive(async () => "second")).resolves.toBe("second");
  });

  test("does not block a different session", async () => {
    const gate = Promise.withResolvers<void>();
    const held = new SessionLock().runExclusive(() => gate.promise);
    await expect(new SessionLock().runExclusive(async () => "free")).resolves.toBe("free");
    gate.resolve();
    await held;
  });
});

describe("SessionLock.reserve()", () => {
  test("takes a place before work that is started later", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const place = lock.reserve(undefined);
    const later = lock.runExclusive(async () => void log.push("later"));
    await waitForCallbacks();
    await lock.runExclusive(async () => void log.push("reserved"), { place });
    await later;
    place.release();
    expect(log).toEqual(["reserved", "later"]);
  });

  test("is released unused, also after an abort, without letting others pass too early", async () => {
    const lock = new SessionLock();
    const controller = new AbortController();
    const gate = Promise.withResolvers<void>();
    const first = lock.runExclusive(() => gate.promise);
    const place = lock.reserve(undefined);
    const log: string[] = [];
    const last = lock.runExclusive(async () => void log.push("last"));
    const aborted = lock.runExclusive(async () => {}, { place, signal: controller.signal });
    controller.abort(new Error("too late"));
    await expect(aborted).rejects.toThrow("too late");
    place.release();
    await waitForCallbacks();
    expect(log).toEqual([]);
    gate.resolve();
    await Promise.all([first, last]);
    expect(log).toEqual(["last"]);
  });

  test("in a handler, keeps the handler's scope open until the work has ended", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    await lock.runExclusive(async () => {
      await lock.runNested(async () => {
        const place = lock.reserve(undefined);
        void waitForCallbacks()
          .then(() =>
            lock.runExclusive(async (isNested) => void log.push(`nested: ${isNested}`), { place }),
          )
          .finally(() => place.release());
      }, signal);
      log.push("turn ends");
    });
    expect(log).toEqual(["nested: true", "turn ends"]);
  });
});

describe("SessionLock.runExclusive() inside a handler", () => {
  test("runs without waiting for the outer evaluation", async () => {
    const lock = new SessionLock();
    expect(lock.detectsNesting).toBe(true);
    const result = await lock.runExclusive(() =>
      lock.runNested(async () => {
        await waitForCallbacks();
        return await lock.runExclusive(async () => "inner");
      }, signal),
    );
    expect(result).toBe("inner");
  });

  test("supports deeper nesting", async () => {
    const lock = new SessionLock();
    const evaluation = (depth: number): Promise<number> =>
      lock.runExclusive(() =>
        lock.runNested(async () => (depth === 0 ? 0 : 1 + (await evaluation(depth - 1))), signal),
      );
    await expect(evaluation(20)).resolves.toBe(20);
  });

  test("waits for evaluations of the same handler, in order", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const sibling = (name: string) =>
      lock.runExclusive(async () => {
        log.push(`${name} starts`);
        await waitForCallbacks();
        log.push(`${name} ends`);
      });
    await lock.runExclusive(() =>
      lock.runNested(() => Promise.all([sibling("a"), sibling("b")]), signal),
    );
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends"]);
  });

  test("runs before evaluations that wait outside", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const outer = lock.runExclusive(() =>
      lock.runNested(async () => {
        await gate.promise;
        await lock.runExclusive(async () => void log.push("inner"));
      }, signal),
    );
    const waiting = lock.runExclusive(async () => void log.push("outside"));
    gate.resolve();
    await Promise.all([outer, waiting]);
    expect(log).toEqual(["inner", "outside"]);
  });

  test("can re-enter a session through a different one", async () => {
    const one = new SessionLock();
    const other = new SessionLock();
    const result = one.runExclusive(() =>
      one.runNested(
        () =>
          other.runExclusive(() =>
            other.runNested(() => one.runExclusive(async () => "back"), signal),
          ),
        signal,
      ),
    );
    await expect(result).resolves.toBe("back");
  });

  test("finishes before the handler's scope ends, even if not awaited", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.runExclusive(async () => {
      await lock.runNested(async () => {
        started.push(
          lock.runExclusive(() => waitForCallbacks().then(() => void log.push("inner ends"))),
        );
      }, signal);
      log.push("turn ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["inner ends", "turn ends"]);
  });

  test("is not waited for once the evaluation is aborted", async () => {
    const lock = new SessionLock();
    const controller = new AbortController();
    const gate = Promise.withResolvers<void>();
    const started: Promise<void>[] = [];
    const outer = lock.runExclusive(() =>
      lock.runNested(async () => {
        started.push(lock.runExclusive(() => gate.promise));
        return "handled";
      }, controller.signal),
    );
    await waitForCallbacks();
    controller.abort(new Error("left"));
    await expect(outer).resolves.toBe("handled"); // the evaluation decides whether to continue
    gate.resolve();
    await Promise.all(started);
  });

  test("waits its turn after the handler's scope has ended", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const late: Promise<void>[] = [];
    await lock.runExclusive(async () => {
      await lock.runNested(async () => {
        late.push(gate.promise.then(() => lock.runExclusive(async () => void log.push("late"))));
      }, signal);
      gate.resolve();
      await waitForCallbacks();
      log.push("outer ends");
    });
    await Promise.all(late);
    expect(log).toEqual(["outer ends", "late"]);
  });
});

describe("SessionLock", () => {
  test("makes work started between handlers wait its turn", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.runExclusive(async () => {
      started.push(lock.runExclusive(async () => void log.push("started between")));
      await waitForCallbacks();
      await lock.runNested(async () => void log.push("handler"), signal);
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["handler", "outer ends", "started between"]);
  });

  test("makes work started between handlers of a nested evaluation wait for the outermost one", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.runExclusive(async () => {
      const inner = async () => {
        started.push(lock.runExclusive(async () => void log.push("started between")));
        await waitForCallbacks();
      };
      await lock.runNested(() => lock.runExclusive(inner), signal);
      await waitForCallbacks();
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["outer ends", "started between"]);
  });

  test("rejects with a handler's error and admits the next", async () => {
    const lock = new SessionLock();
    const failing = lock.runExclusive(() =>
      lock.runNested(async () => Promise.reject(new Error("boom")), signal),
    );
    await expect(failing).rejects.toThrow("boom");
    await expect(lock.runExclusive(async () => "next")).resolves.toBe("next");
  });
});

describe("SessionLock.runExclusive() with a signal", () => {
  test("rejects with the reason while waiting and leaves the queue usable", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const controller = new AbortController();
    const first = lock.runExclusive(() => gate.promise);
    const gone = lock.runExclusive(async () => void log.push("gone"), {
      signal: controller.signal,
    });
    const third = lock.runExclusive(async () => void log.push("third"));
    const reason = { why: "left" };
    controller.abort(reason);
    await expect(gone).rejects.toBe(reason);
    await waitForCallbacks();
    expect(log).toEqual([]); // the third still waits for the first
    gate.resolve();
    await Promise.all([first, third]);
    expect(log).toEqual(["third"]);
  });

  test("never runs the work if the signal has already aborted", async () => {
    const lock = new SessionLock();
    const log: string[] = [];
    const aborted = AbortSignal.abort("left");
    const held = lock.runExclusive(async () => void log.push("done"), { signal: aborted });
    await expect(held).rejects.toBe("left");
    await expect(lock.runExclusive(async () => "next")).resolves.toBe("next");
    expect(log).toEqual([]);
  });

  test("does not interrupt work that is already running", async () => {
    const lock = new SessionLock();
    const controller = new AbortController();
    const held = lock.runExclusive(
      async () => {
        controller.abort("left");
        await waitForCallbacks();
        return "done";
      },
      { signal: controller.signal },
    );
    await expect(held).resolves.toBe("done");
  });
});

describe("SessionLock on a runtime without async context", () => {
  const createPlainLock = () => new SessionLock(createAsyncContext(() => undefined));

  test("runs a nested evaluation that passes its scope", async () => {
    const lock = createPlainLock();
    expect(lock.detectsNesting).toBe(false);
    const result = await lock.runExclusive(() =>
      lock.runNested(
        (scope) => lock.runExclusive(async () => "inner", { parentScope: scope }),
        signal,
      ),
    );
    expect(result).toBe("inner");
  });

  test("makes a nested evaluation without a scope wait its turn", async () => {
    const lock = createPlainLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.runExclusive(async () => {
      await lock.runNested(async () => {
        started.push(lock.runExclusive(async () => void log.push("inner")));
        await waitForCallbacks();
      }, signal);
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["outer ends", "inner"]);
  });

  test("ignores a scope that has ended or belongs to a different lock", async () => {
    const lock = createPlainLock();
    const log: string[] = [];
    const started: Promise<void>[] = [];
    await lock.runExclusive(async () => {
      const over = await lock.runNested(async (scope) => scope, signal);
      expect(over.open).toBe(false);
      for (const scope of [over, { open: true }]) {
        started.push(lock.runExclusive(async () => void log.push("inner"), { parentScope: scope }));
      }
      await waitForCallbacks();
      log.push("outer ends");
    });
    await Promise.all(started);
    expect(log).toEqual(["outer ends", "inner", "inner"]);
  });
});

/** Lets all pending callbacks run, without waiting for time to pass. */
function waitForCallbacks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("Locks of several sessions", () => {
  test("detect nesting across each other", async () => {
    const [one, other] = [new SessionLock(), new SessionLock()];
    const isNested = await one.runExclusive(() =>
      one.runNested(
        () =>
          other.runExclusive((isNestedInOther) =>
            other.runNested(
              () => one.runExclusive(async (isNestedInOne) => [isNestedInOther, isNestedInOne]),
              signal,
            ),
          ),
        signal,
      ),
    );
    expect(isNested).toEqual([false, true]);
  });

  test("leave nothing in the caller's async context", async () => {
    const run = async (count: number) => {
      const started = process.cpuUsage();
      for (let index = 0; index < count; index++) {
        await new SessionLock().runExclusive(async () => {});
      }
      const { user, system } = process.cpuUsage(started);
      return (user + system) / count;
    };
    await run(1_000);
    const early = await run(1_000);
    await run(10_000);
    // A context per lock would make each run slower than the one before: 30 times after 10,000.
    expect(await run(1_000)).toBeLessThan(10 * early + 100);
  });
});
