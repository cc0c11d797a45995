import { expect, test } from "vitest";
import { LocalProvider } from "./provider.ts";
import type { LocalProviderOptions } from "./provider-options.ts";

test.each<readonly [string, unknown]>([
  ["LocalProvider.model must be a LocalModel", { model: {} }],
  ["LocalProvider.model must be a LocalModel", { model: "gpt" }],
  ["LocalProvider.apiKey must be a text that is not empty", { apiKey: "" }],
  ["LocalProvider.apiKey must be a text that is not empty", { apiKey: 7 }],
])("a provider is refused: %s", (problem, options) => {
  expect(() => new LocalProvider(options as LocalProviderOptions)).toThrow(problem);
});

test("a provider that was disposed of is of no more use", async () => {
  const provider = new LocalProvider();
  await provider[Symbol.asyncDispose]();
  await expect(provider.sandbox()).rejects.toThrow("LocalProvider must be in use");
});
