import { describe, expect, test } from "vitest";
import { deepFreeze, freezeChanged, frozenCopy, isPlainObject } from "./freeze.ts";

class Account {
  balance = 1;
}

describe("plain data", () => {
  test.each([[{}], [{ a: 1 }], [Object.create(null)], [JSON.parse('{"__proto__":1}')]])(
    "is %j",
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
    ["text", "a"],
    ["an heir of data", Object.create({})],
  ])("is not %s", (_what, value) => {
    expect(isPlainObject(value)).toBe(false);
  });
});

describe("deepFreeze", () => {
  test("gives back what it was given, frozen all the way down", () => {
    const value = { a: { b: [{ c: 1 }] } };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.a, value.a.b, value.a.b[0]].every(Object.isFrozen)).toBe(true);
  });

  test("freezes what is within something frozen already", () => {
    const value = Object.freeze({ list: [{ a: 1 }] });
    deepFreeze(value);
    expect([value.list, value.list[0]].every(Object.isFrozen)).toBe(true);
  });

  test("leaves instances and functions their state", () => {
    const account = new Account();
    const act = Object.assign(() => {}, { calls: 0 });
    deepFreeze({ account, act, list: [account] });
    account.balance = 2;
    act.calls = 1;
    expect([account.balance, act.calls]).toEqual([2, 1]);
  });

  test("takes what is not data as it is", () => {
    for (const value of [1, "a", null, undefined]) expect(deepFreeze(value)).toBe(value);
  });

  test("ends on data that contains itself", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    expect(deepFreeze(cycle)).toSatisfy(Object.isFrozen);
    expect(cycle.self).toSatisfy(Object.isFrozen);
  });

  test("reaches the bottom of 100,000 levels", () => {
    const bottom: Record<string, unknown> = { here: true };
    deepFreeze(nested(bottom, 100_000));
    expect(bottom).toSatisfy(Object.isFrozen);
  });
});

describe("frozenCopy", () => {
  test("is equal, frozen all the way down and shares no data with the original", () => {
    const value = { a: { b: [{ c: 1 }, null] }, d: undefined };
    const copy = frozenCopy(value);
    expect(copy).toStrictEqual(value);
    expect([copy, copy.a, copy.a.b, copy.a.b[0]].every(Object.isFrozen)).toBe(true);
    expect([value, value.a, value.a.b, value.a.b[0]].some(Object.isFrozen)).toBe(false);
    value.a.b.push(null);
    expect(copy.a.b).toHaveLength(2);
  });

  test("copies what is frozen already, for it may hold what is not", () => {
    const value = Object.freeze({ list: [1] });
    const copy = frozenCopy(value);
    value.list.push(2);
    expect(copy).toEqual({ list: [1] });
  });

  test("keeps instances and functions what they are", () => {
    const account = new Account();
    const act = () => {};
    const copy = frozenCopy({ account, list: [act] });
    expect(copy.account).toBe(account);
    expect(copy.list[0]).toBe(act);
    expect(account).not.toSatisfy(Object.isFrozen);
  });

  test("takes what is not data as it is", () => {
    const account = new Account();
    for (const value of [1, "a", null, undefined, account]) expect(frozenCopy(value)).toBe(value);
  });

  test("takes a field called __proto__ for data", () => {
    const value = JSON.parse('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
    const copy = frozenCopy(value);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true},"a":{"__proto__":1}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(copy.admin).toBeUndefined();
    expect("admin" in {}).toBe(false);
  });

  test("keeps cycles and shared parts what they were", () => {
    const shared = { a: 1 };
    const value: { one: object; other: object; self?: unknown } = { one: shared, other: shared };
    value.self = value;
    const copy = frozenCopy(value);
    expect(copy.self).toBe(copy);
    expect(copy.one).toBe(copy.other);
    expect(copy.one).not.toBe(shared);
  });

  test("keeps the order of fields and of lists", () => {
    const value = { b: 1, a: [3, 1, 2] };
    expect(JSON.stringify(frozenCopy(value))).toBe('{"b":1,"a":[3,1,2]}');
  });

  test("reaches the bottom of 100,000 levels", () => {
    const copy = frozenCopy(nested([1], 100_000));
    let part: unknown = copy;
    while (isPlainObject(part)) part = part["deep"];
    expect(part).toEqual([1]);
    expect(part).toSatisfy(Object.isFrozen);
  });
});

describe("freezeChanged", () => {
  test("freezes what is new, at any depth", () => {
    const before = deepFreeze({ kept: { a: 1 }, list: [{ n: 1 }] });
    const next = { ...before, list: [...before.list, { n: 2 }], more: { b: [1] } };
    expect(freezeChanged(next, before)).toBe(next);
    expect([next, next.list, next.list[1], next.more, next.more.b].every(Object.isFrozen)).toBe(
      true,
    );
  });

  test("does not walk through what was there before", () => {
    const untouched = { a: 1 }; // not frozen, so that a visit would show
    const before = { kept: untouched, list: [untouched] };
    const next = { kept: untouched, list: [untouched] };
    freezeChanged(next, before);
    expect([next, next.list].every(Object.isFrozen)).toBe(true);
    expect(untouched).not.toSatisfy(Object.isFrozen);
    freezeChanged(before, before);
    expect(before).not.toSatisfy(Object.isFrozen);
  });

  test("freezes whole what has become another kind of thing", () => {
    for (const before of [null, 1, { a: 1 }, [1], new Account()]) {
      const list = [{ a: 1 }];
      const object = { a: [1] };
      freezeChanged(list, before);
      freezeChanged(object, before);
      expect([list, list[0], object, object.a].every(Object.isFrozen)).toBe(true);
    }
  });

  test("leaves what is not data as it is, and ends on what contains itself", () => {
    const account = new Account();
    expect(freezeChanged(account, null)).not.toSatisfy(Object.isFrozen);
    expect(freezeChanged("a", "b")).toBe("a");
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(freezeChanged(cycle, {})).toSatisfy(Object.isFrozen);
  });
});

function nested(bottom: unknown, levels: number): unknown {
  let value = bottom;
  for (let level = 0; level < levels; level++) value = { deep: value };
  return value;
}
