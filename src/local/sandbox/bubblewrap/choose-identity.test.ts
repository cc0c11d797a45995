import { describe, expect, test } from "vitest";
import { chooseIdentity } from "./choose-identity.ts";

const WHOLE = "         0          0 4294967295\n";

describe("chooseIdentity()", () => {
  test("uses a namespace if the process is not root", () => {
    expect(chooseIdentity("/a", 1000, WHOLE)).toEqual({ kind: "namespace" });
  });

  test("uses a separate user for each folder if the process is root", () => {
    const first = chooseIdentity("/a", 0, WHOLE);
    expect(first).toEqual(chooseIdentity("/a", 0, WHOLE));
    expect(first).not.toEqual(chooseIdentity("/b", 0, WHOLE));
    expect(first).toMatchObject({ kind: "own user" });
    if (first.kind === "own user") expect(first.uid).toBeGreaterThan(1_000_000_000);
  });

  test("stays within the users of a rootless container", () => {
    const identity = chooseIdentity("/a", 0, "0 1000 1\n1 100000 65536\n");
    expect(identity).toEqual({ kind: "namespace" });
    const few = chooseIdentity("/a", 0, "0 100000 65536\n");
    expect(few).toMatchObject({ kind: "own user" });
    if (few.kind === "own user") expect(few.uid).toBeLessThan(65_536);
    expect(chooseIdentity("/a", 0, "5 5 5\n")).toEqual({ kind: "namespace" });
  });
});
