import { describe, expect, it } from "vitest";
import { PromptValidationError } from "../../base/errors.ts";
import { type CompactionConfig, resolveCompactionSettings } from "./compaction-config.ts";

describe("compactionSettings()", () => {
  it("defaults to the endpoint strategy above 100,000 tokens, without zero data retention", () => {
    const settings = resolveCompactionSettings({}, "compaction");
    expect(settings).toEqual({
      enabled: true,
      thresholdTokens: 100_000,
      zdrMode: false,
      strategy: "endpoint",
      allowStoredFiles: false,
    });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it.each([null, undefined, { enabled: false }])("disables compaction for %j", (config) => {
    expect(resolveCompactionSettings(config, "compaction")).toMatchObject({ enabled: false });
  });

  it("copies the config", () => {
    const config = { thresholdTokens: 5 };
    const settings = resolveCompactionSettings(config, "compaction");
    config.thresholdTokens = 6;
    expect(settings.thresholdTokens).toBe(5);
  });

  it.each([
    [{ thresholdTokens: 0 }, "compaction.thresholdTokens"],
    [{ thresholdTokens: 1.5 }, "compaction.thresholdTokens"],
    [{ strategy: "client" }, "compaction.strategy"],
    [{ enabled: "yes" }, "compaction.enabled"],
    [{ zdr: true }, "zdr"],
  ])("rejects %j", (config, message) => {
    const resolve = () => resolveCompactionSettings(config as CompactionConfig, "compaction");
    expect(resolve).toThrow(PromptValidationError);
    expect(resolve).toThrow(message);
  });

  it("rejects a server threshold below 1,000 tokens", () => {
    const with999 = { strategy: "server", thresholdTokens: 999 } as const;
    expect(() => resolveCompactionSettings(with999, "compaction")).toThrow(
      'compaction.thresholdTokens must be at least 1000 with the strategy "server", got 999. Raise it, or use the strategy "endpoint".',
    );
    expect(
      resolveCompactionSettings({ ...with999, thresholdTokens: 1_000 }, "c").thresholdTokens,
    ).toBe(1_000);
    expect(resolveCompactionSettings({ thresholdTokens: 1 }, "c").thresholdTokens).toBe(1);
  });
});
