import { expect, test } from "vitest";
import { loadOpenTelemetry } from "./load-open-telemetry.ts";

test("loadOpenTelemetry() loads the installed package", () => {
  expect(loadOpenTelemetry().SpanKind.CLIENT).toBe(2);
});

test("loadOpenTelemetry() names the install command if the package is missing", () => {
  const loadMissing = () => {
    throw new Error("Cannot find module '@opentelemetry/api'");
  };
  expect(() => loadOpenTelemetry(loadMissing)).toThrow(
    "@opentelemetry/api is not installed. Run npm install @opentelemetry/api.",
  );
});

test("loadOpenTelemetry() names the option for runtimes without packages", () => {
  expect(() => loadOpenTelemetry(() => null)).toThrow(
    "@opentelemetry/api cannot be looked up on this runtime. Pass it: instrument(session, { api })",
  );
});
