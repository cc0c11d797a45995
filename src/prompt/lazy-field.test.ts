import { describe, expect, it } from "vitest";
import { createLazyField } from "./lazy-field.ts";

describe("createLazyField()", () => {
  const addReport = createLazyField<object>("report");

  it("computes the value when it is first read, and only once", () => {
    let computed = 0;
    const target = Object.freeze(addReport({ id: 1 }, () => ({ number: ++computed })));
    expect(computed).toBe(0);
    const { report } = target as unknown as { report: object };
    expect(report).toEqual({ number: 1 });
    expect({ ...target }).toEqual({ id: 1, report: { number: 1 } });
    expect({ ...target }).toHaveProperty("report", report);
    expect(computed).toBe(1);
  });

  it("computes the value again after it could not be computed", () => {
    let isReady = false;
    const target = addReport({}, () => {
      if (!isReady) throw new RangeError("not ready");
      return { isReady };
    });
    expect(() => JSON.stringify(target)).toThrow(RangeError);
    isReady = true;
    expect(JSON.stringify(target)).toBe('{"report":{"isReady":true}}');
  });

  it("shares the getter among objects, whose values are independent", () => {
    const [one, other] = [{ a: 1 }, { b: 2 }].map((value) => addReport({}, () => value));
    const getGetter = (target: object | undefined) =>
      Object.getOwnPropertyDescriptor(target, "report")?.get;
    expect(getGetter(one)).toBe(getGetter(other));
    expect([one, other]).toEqual([{ report: { a: 1 } }, { report: { b: 2 } }]);
  });
});
