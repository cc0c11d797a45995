import { describe, expect, test } from "vitest";
import { identityFor } from "./identity.ts";

const WHOLE = "         0          0 4294967295\n";

describe("who a container's code is", () => {
  test("is us in a namespace, if we are not root", () => {
    expect(identityFor("/a", 1000, WHOLE)).toEqual({ kind: "namespace" });
  });

  test("is nobody else for each folder, if we are", () => {
    const first = identityFor("/a", 0, WHOLE);
    expect(first).toEqual(identityFor("/a", 0, WHOLE));
    expect(first).not.toEqual(identityFor("/b", 0, WHOLE));
    expect(first).toMatchObject({ kind: "own user" });
    if (first.kind === "own user") expect(first.uid).toBeGreaterThan(1_000_000_000);
  });

  test("is within the users that a rootless container has", () => {
    const identity = identityFor("/a", 0, "0 1000 1\n1 100000 65536\n");
    expect(identity).toEqual({ kind: "namespace" });
    const few = identityFor("/a", 0, "0 100000 65536\n");
    expect(few).toMatchObject({ kind: "own user" });
    if (few.kind === "own user") expect(few.uid).toBeLessThan(65_536);
    expect(identityFor("/a", 0, "5 5 5\n")).toEqual({ kind: "namespace" });
  });
});
