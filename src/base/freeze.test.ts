import { describe, expect, test } from "vitest";
import {
  copyAndFreeze,
  createLazyField,
  deepFreeze,
  freezeChanged,
  isPlainObject,
} from "./freeze.ts";

class Account {
  balance = 1;
}

describe("isPlainObject()", () => {
  test.each([[{}], [{ a: 1 }], [Object.create(null)], [JSON.parse('{"__proto__":1}')]])(
    "accepts %j",
    (value) => {
      expect(isPlainObject(value)).toBe(true);
    },
  );

  test.each([
    ["null", null],
    ["an array", []],
    ["an instance", new Account()],
    ["a date", new Date(0)],
    ["a function", () => {}],
    ["a string", "a"],
    ["an object that inherits from a plain object", Object.create({})],
  ])("rejects %s", (_what, value) => {
    expect(isPlainObject(value)).toBe(false);
  });
});

describe("deepFreeze()", () => {
  test("freezes data of many parts, next to each other or below each other", () => {
    const wide = Array.from({ length: 20_000 }, (_, n) => ({ n }));
    const tall = Array.from({ length: 200 }, () => ({})).reduce((inner) => ({ inner }));
    deepFreeze({ wide, tall });
    expect(wide.every(Object.isFrozen)).toBe(true);
    for (let part: { inner?: object } | undefined = tall; part; part = part.inner) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  test("visits shared parts a limited number of times", () => {
    let value: object = { leaf: {} }; // 2 ** 60 ways lead to the leaf
    for (let level = 0; level < 60; level++) value = { left: value, right: value };
    const started = performance.now();
    deepFreeze(value);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test("returns its argument, frozen recursively", () => {
    const value = { a: { b: [{ c: 1 }] } };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.a, value.a.b, value.a.b[0]].every(Object.isFrozen)).toBe(true);
  });

  test("freezes data inside an object that is already frozen", () => {
    const value = Object.freeze({ list: [{ a: 1 }] });
    deepFreeze(value);
    expect([value.list, value.list[0]].every(Object.isFrozen)).toBe(true);
  });

  test("does not freeze instances and functions", () => {
    const account = new Account();
    const act = Object.assign(() => {}, { calls: 0 });
    deepFreeze({ account, act, list: [account] });
    account.balance = 2;
    act.calls = 1;
    expect([account.balance, act.calls]).toEqual([2, 1]);
  });

  test("returns other values unchanged", () => {
    for (const value of [1, "a", null, undefined]) expect(deepFreeze(value)).toBe(value);
  });

  test("handles data that contains itself", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    expect(deepFreeze(cycle)).toSatisfy(Object.isFrozen);
    expect(cycle.self).toSatisfy(Object.isFrozen);
  });

  test("handles 100,000 levels of nesting", () => {
    const bottom: Record<string, unknown> = { here: true };
    deepFreeze(nest(bottom, 100_000));
    expect(bottom).toSatisfy(Object.isFrozen);
  });
});

describe("copyAndFreeze()", () => {
  test("returns an equal, recursively frozen copy that shares no data with the original", () => {
    const value = { a: { b: [{ c: 1 }, null] }, d: undefined };
    const copy = copyAndFreeze(value);
    expect(copy).toStrictEqual(value);
    expect([copy, copy.a, copy.a.b, copy.a.b[0]].every(Object.isFrozen)).toBe(true);
    expect([value, value.a, value.a.b, value.a.b[0]].some(Object.isFrozen)).toBe(false);
    value.a.b.push(null);
    expect(copy.a.b).toHaveLength(2);
  });

  test("copies frozen objects, which may contain unfrozen data", () => {
    const value = Object.freeze({ list: [1] });
    const copy = copyAndFreeze(value);
    value.list.push(2);
    expect(copy).toEqual({ list: [1] });
  });

  test("keeps instances and functions by reference", () => {
    const account = new Account();
    const act = () => {};
    const copy = copyAndFreeze({ account, list: [act] });
    expect(copy.account).toBe(account);
    expect(copy.list[0]).toBe(act);
    expect(account).not.toSatisfy(Object.isFrozen);
  });

  test("returns values other than data unchanged", () => {
    const account = new Account();
    for (const value of [1, "a", null, undefined, account])
      expect(copyAndFreeze(value)).toBe(value);
  });

  test("copies a field named __proto__ as ordinary data", () => {
    const value = JSON.parse('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
    const copy = copyAndFreeze(value);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy.admin).toBeUndefined();
    expect("admin" in {}).toBe(false);
  });

  test("preserves cycles and shared parts", () => {
    const shared = { a: 1 };
    const value: { one: object; other: object; self?: unknown } = { one: shared, other: shared };
    value.self = value;
    const copy = copyAndFreeze(value);
    expect(copy.self).toBe(copy);
    expect(copy.one).toBe(copy.other);
    expect(copy.one).not.toBe(shared);
  });

  test("preserves the order of fields and array elements", () => {
    const value = { b: 1, a: [3, 1, 2] };
    expect(JSON.stringify(copyAndFreeze(value))).toBe('{"b":1,"a":[3,1,2]}');
  });

  test("handles 100,000 levels of nesting", () => {
    const copy = copyAndFreeze(nest([1], 100_000));
    let part: unknown = copy;
    while (isPlainObject(part)) part = part["deep"];
    expect(part).toEqual([1]);
    expect(part).toSatisfy(Object.isFrozen);
  });
});

describe("freezeChanged()", () => {
  test("freezes new parts at any depth", () => {
    const before = deepFreeze({ kept: { a: 1 }, list: [{ n: 1 }] });
    const next = { ...before, list: [...before.list, { n: 2 }], more: { b: [1] } };
    expect(freezeChanged(next, before)).toBe(next);
    expect([next, next.list, next.list[1], next.more, next.more.b].every(Object.isFrozen)).toBe(
      true,
    );
  });

  test("does not visit unchanged parts", () => {
    const untouched = { a: 1 }; // Not frozen, so that the test would notice a visit.
    const before = { kept: untouched, list: [untouched] };
    const next = { kept: untouched, list: [untouched] };
    freezeChanged(next, before);
    expect([next, next.list].every(Object.isFrozen)).toBe(true);
    expect(untouched).not.toSatisfy(Object.isFrozen);
    freezeChanged(before, before);
    expect(before).not.toSatisfy(Object.isFrozen);
  });

  test("freezes everything if the type of the value changed", () => {
    for (const before of [null, 1, { a: 1 }, [1], new Account()]) {
      const list = [{ a: 1 }];
      const object = { a: [1] };
      freezeChanged(list, before);
      freezeChanged(object, before);
      expect([list, list[0], object, object.a].every(Object.isFrozen)).toBe(true);
    }
  });

  test("leaves instances and primitives unfrozen and handles data that contains itself", () => {
    const account = new Account();
    expect(freezeChanged(account, null)).not.toSatisfy(Object.isFrozen);
    expect(freezeChanged("a", "b")).toBe("a");
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(freezeChanged(cycle, {})).toSatisfy(Object.isFrozen);
  });
});

function nest(bottom: unknown, levels: number): unknown {
  let value = bottom;
  for (let level = 0; level < levels; level++) value = { deep: value };
  return value;
}

describe("createLazyField()", () => {
  const addReport = createLazyField<object>("report");

  test("computes the value when it is first read, and only once", () => {
    let computed = 0;
    const target = Object.freeze(addReport({ id: 1 }, () => ({ number: ++computed })));
    expect(computed).toBe(0);
    const { report } = target as unknown as { report: object };
    expect(report).toEqual({ number: 1 });
    expect({ ...target }).toEqual({ id: 1, report: { number: 1 } });
    expect({ ...target }).toHaveProperty("report", report);
    expect(computed).toBe(1);
  });

  test("computes the value again after it could not be computed", () => {
    let isReady = false;
    const target = addReport({}, () => {
      if (!isReady) throw new RangeError("not ready");
      return { isReady };
    });
    expect(() => JSON.stringify(target)).toThrow(RangeError);
    isReady = true;
    expect(JSON.stringify(target)).toBe('{"report":{"isReady":true}}');
  });

  test("shares the getter among objects, whose values are independent", () => {
    const [one, other] = [{ a: 1 }, { b: 2 }].map((value) => addReport({}, () => value));
    const getGetter = (target: object | undefined) =>
      Object.getOwnPropertyDescriptor(target, "report")?.get;
    expect(getGetter(one)).toBe(getGetter(other));
    expect([one, other]).toEqual([{ report: { a: 1 } }, { report: { b: 2 } }]);
  });
});
