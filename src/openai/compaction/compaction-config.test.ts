import { describe, expect, it } from "vitest";
import { PromptValidationError } from "../../base/errors.ts";
import { type CompactionConfig, resolveCompactionSettings } from "./compaction-config.ts";

describe("compactionSettings()", () => {
  it("defaults to the endpoint strategy above 100,000 tokens, without zero data retention", () => {
    const settings = resolveCompactionSettings({}, "compaction", "gpt-5.2");
    expect(settings).toEqual({
      enabled: true,
      thresholdTokens: 100_000,
      contextWindow: 400_000,
      zdrMode: false,
      strategy: "endpoint",
      allowStoredFiles: false,
    });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it.each([null, undefined, { enabled: false }])("disables compaction for %j", (config) => {
    expect(resolveCompactionSettings(config, "compaction", "local")).toMatchObject({
      enabled: false,
    });
  });

  it("copies the config", () => {
    const config = { thresholdTokens: 5 };
    const settings = resolveCompactionSettings(config, "compaction", "local");
    config.thresholdTokens = 6;
    expect(settings.thresholdTokens).toBe(5);
  });

  it.each([
    [{ thresholdTokens: 0 }, "compaction.thresholdTokens"],
    [{ thresholdTokens: 1.5 }, "compaction.thresholdTokens"],
    [
      { thresholdRatio: 0 },
      "compaction.thresholdRatio must be a number greater than 0 and at most 1",
    ],
    [{ thresholdRatio: 1.01 }, "compaction.thresholdRatio"],
    [{ thresholdRatio: "0.5" }, "compaction.thresholdRatio"],
    [{ thresholdRatio: Number.NaN }, "compaction.thresholdRatio"],
    [{ contextWindow: 0 }, "compaction.contextWindow"],
    [{ strategy: "client" }, "compaction.strategy"],
    [{ enabled: "yes" }, "compaction.enabled"],
    [{ zdr: true }, "zdr"],
  ])("rejects %j", (config, message) => {
    const resolve = () =>
      resolveCompactionSettings(config as CompactionConfig, "compaction", "local");
    expect(resolve).toThrow(PromptValidationError);
    expect(resolve).toThrow(message);
  });

  it("rejects a server threshold below 1,000 tokens", () => {
    const with999 = { strategy: "server", thresholdTokens: 999 } as const;
    expect(() => resolveCompactionSettings(with999, "compaction", "local")).toThrow(
      'compaction.thresholdTokens must be at least 1000 with the strategy "server", got 999. Raise it, or use the strategy "endpoint".',
    );
    expect(
      resolveCompactionSettings({ ...with999, thresholdTokens: 1_000 }, "c", "local")
        .thresholdTokens,
    ).toBe(1_000);
    expect(resolveCompactionSettings({ thresholdTokens: 1 }, "c", "local").thresholdTokens).toBe(1);
  });

  it.each([
    [{ thresholdRatio: 0.7 }, "gpt-5.2", 280_000],
    [{ thresholdRatio: 0.7 }, "gpt-5.4-2026-03-05", 735_000],
    [{ thresholdRatio: 0.5, contextWindow: 131_073 }, "local", 65_536],
    [{ thresholdRatio: 1, contextWindow: 1_000 }, "gpt-5.2", 1_000],
    [{ thresholdRatio: 0.000_1, contextWindow: 10 }, "local", 1],
  ])("resolves %j with the model %s to %d tokens", (config, model, tokens) => {
    expect(resolveCompactionSettings(config, "c", model).thresholdTokens).toBe(tokens);
  });

  it("rejects a ratio with a threshold in tokens", () => {
    const both = { thresholdRatio: 0.5, thresholdTokens: 50_000 };
    expect(() => resolveCompactionSettings(both, "compaction", "gpt-5.2")).toThrow(
      "compaction.thresholdRatio must be omitted with thresholdTokens, got 0.5. Set one of the two.",
    );
  });

  it("rejects a ratio for a model whose context window is not known, unless it is given", () => {
    const config = { thresholdRatio: 0.5 };
    expect(() => resolveCompactionSettings(config, "compaction", "my-model")).toThrow(
      'compaction.contextWindow must be set for thresholdRatio with the model "my-model", whose context window is not known, got undefined. Set it to the model\'s context window in tokens, or use thresholdTokens.',
    );
    expect(() => resolveCompactionSettings({}, "compaction", "my-model")).not.toThrow();
  });

  it("rejects a ratio that is less than 1,000 tokens for the server", () => {
    const config = { strategy: "server", thresholdRatio: 0.1, contextWindow: 8_000 } as const;
    expect(() => resolveCompactionSettings(config, "compaction", "local")).toThrow(
      'compaction.thresholdRatio must be at least 1000 tokens with the strategy "server", got 0.1.',
    );
  });
});
