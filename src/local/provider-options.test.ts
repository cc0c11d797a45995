import { expect, test } from "vitest";
import { LocalProvider } from "./provider.ts";
import type { LocalProviderOptions } from "./provider-options.ts";

test.each<readonly [string, unknown]>([
  ["LocalProvider.model must be a LocalModel", { model: {} }],
  ["LocalProvider.model must be a LocalModel", { model: "gpt" }],
  ["LocalProvider.apiKey must be a non-empty string", { apiKey: "" }],
  ["LocalProvider.apiKey must be a non-empty string", { apiKey: 7 }],
  [
    'LocalProvider.limits.require must be "enforced" or "watched", got "strict".',
    { limits: { require: "strict" } },
  ],
  ["LocalProvider.onRequest must be a function, got true.", { onRequest: true }],
])("LocalProvider rejects invalid options: %s", (problem, options) => {
  expect(() => new LocalProvider(options as LocalProviderOptions)).toThrow(problem);
});

test("LocalProvider cannot be used after disposal", async () => {
  const provider = new LocalProvider();
  await provider.close();
  await expect(provider.sandbox()).rejects.toThrow("LocalProvider must not be disposed");
});
