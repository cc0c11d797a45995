import { describe, expect, test } from "vitest";
import { checkAllowedHosts, checkAllowedOrigins } from "./check-allowed.ts";

describe("checkAllowedHosts()", () => {
  test("returns names in lower case, and addresses without brackets", () => {
    expect(checkAllowedHosts()).toEqual([]);
    expect(checkAllowedHosts(["Wink.test", "10.0.0.7", "[FD00::7]"])).toEqual([
      "wink.test",
      "10.0.0.7",
      "fd00::7",
    ]);
  });

  test.each([["wink.test:80"], [""], ["*"], ["http://wink.test"], [7], [null]])(
    "refuses %j",
    (host) => {
      expect(() => checkAllowedHosts(["ok", host])).toThrow(
        "LocalProvider.allowedHosts[1] must be an array of host names without a port",
      );
    },
  );

  test("refuses a value that is not an array", () => {
    expect(() => checkAllowedHosts("wink.test")).toThrow("LocalProvider.allowedHosts must be");
  });
});

describe("checkAllowedOrigins()", () => {
  test("returns origins in lower case", () => {
    expect(checkAllowedOrigins()).toEqual([]);
    const origins = ["http://LOCALHOST:5173", "tauri://localhost", "http://[::1]:80"];
    expect(checkAllowedOrigins(origins)).toEqual(origins.map((one) => one.toLowerCase()));
  });

  test.each([["*"], ["null"], ["http://a.test/"], ["http://a.test/b"], ["a.test"], [undefined]])(
    "refuses %j",
    (origin) => {
      expect(() => checkAllowedOrigins([origin])).toThrow("to allow every page, set an apiKey");
    },
  );
});
