import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { type ContainerConfig, resolveContainerSettings } from "./container-config.ts";

describe("containerSettings()", () => {
  test("fills in the defaults", () => {
    expect(resolveContainerSettings()).toEqual({
      ...{ memoryLimit: "4g", mode: "explicit", expiresAfterMinutes: 20 },
      networkPolicy: null,
      request: {
        memory_limit: "4g",
        expires_after: { anchor: "last_active_at", minutes: 20 },
      },
    });
  });

  test("creates a request from a copy of the config", () => {
    const allowedDomains = ["pypi.org"];
    const networkPolicy = { type: "allowlist", allowedDomains } as const;
    const config = { memoryLimit: "64g", expiresAfterMinutes: 5, networkPolicy } as const;
    const settings = resolveContainerSettings(config, "x", ["file-1"]);
    allowedDomains.push("example.com");
    expect(Object.isFrozen(settings.networkPolicy)).toBe(true);
    expect(settings.request).toEqual({
      memory_limit: "64g",
      file_ids: ["file-1"],
      network_policy: { type: "allowlist", allowed_domains: ["pypi.org"] },
      expires_after: { anchor: "last_active_at", minutes: 5 },
    });
  });

  test.each<readonly [string, object]>([
    ["x.memoryLimit", { memoryLimit: "8g" }],
    ["x.mode", { mode: "manual" }],
    ["x.expiresAfterMinutes", { expiresAfterMinutes: 1.5 }],
    ["x.networkPolicy", { networkPolicy: { type: "some" } }],
    ["x", { memory: "4g" }],
  ])("rejects an invalid %s", (field, config) => {
    const resolve = () => resolveContainerSettings(config as ContainerConfig, "x");
    expect(resolve).toThrow(InvalidOptionError);
    expect(resolve).toThrow(field);
  });
});
