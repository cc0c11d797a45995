import { expect, test } from "vitest";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { Session } from "../../session/session.ts";
import { lockPlace } from "../loop-options.ts";
import type { NestedOptions } from "../nested-adapter.ts";
import { startWhenLoaded } from "./start-when-loaded.ts";

const prompt = definePrompt({ name: "test:one", instructions: "Answer." });

test("holds a place on the session while the code loads, and releases it if the code cannot be loaded", async () => {
  const session = new Session();
  const { promise, reject } = Promise.withResolvers<never>();
  const log: string[] = [];
  const start = async () => void log.push("started");
  const failing = startWhenLoaded(prompt, { session }, { load: () => promise, start });
  const next = session.lock.runExclusive(async () => void log.push("next"));
  const failed = failing.catch((error: unknown) => {
    log.push("failed");
    return error;
  });
  reject(new Error("no such file"));
  const error = await failed;
  await next;
  expect(log).toEqual(["failed", "next"]);
  expect(error).toBeInstanceOf(PromptEvaluationError);
  expect(error).toMatchObject({ phase: "request", promptName: "test:one" });
  expect(String(error)).toContain(
    "could not be loaded: no such file. If the package was replaced, restart the process.",
  );
});

test("passes copies of the options that the caller may change", async () => {
  const approvals: Record<string, "approve" | "deny"> = { a: "approve" };
  const given: NestedOptions = { approvals, input: "Hello." };
  const running = startWhenLoaded(prompt, given, {
    load: async () => "code",
    start: async (code, options) => ({ code, options }),
  });
  approvals["b"] = "approve";
  const { code, options } = await running;
  expect(code).toBe("code");
  expect(options).toMatchObject({ input: "Hello.", [lockPlace]: null });
  expect(options.approvals).toEqual({ a: "approve" });
});
