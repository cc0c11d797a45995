import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import { type ContainerConfig, containerSettings } from "./container-config.ts";

describe("a container that is to be made", () => {
  test("has defaults of its own", () => {
    expect(containerSettings()).toEqual({
      ...{ memoryLimit: "4g", mode: "explicit", expiresAfterMinutes: 20 },
      networkPolicy: null,
      request: {
        memory_limit: "4g",
        expires_after: { anchor: "last_active_at", minutes: 20 },
      },
    });
  });

  test("is asked for with all that was given, which may change afterwards", () => {
    const allowedDomains = ["pypi.org"];
    const networkPolicy = { type: "allowlist", allowedDomains } as const;
    const config = { memoryLimit: "64g", expiresAfterMinutes: 5, networkPolicy } as const;
    const settings = containerSettings(config, "x", ["file-1"]);
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
  ])("is refused for its %s", (field, config) => {
    const make = () => containerSettings(config as ContainerConfig, "x");
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(field);
  });
});
