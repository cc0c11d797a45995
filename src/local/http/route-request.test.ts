import { describe, expect, test } from "vitest";
import { RouteRequest } from "./route-request.ts";

const createRequest = (target: string, headers: Record<string, string> = {}) =>
  new RouteRequest(new Request(`http://local:8080${target}`, { headers }));

describe("the path of a request", () => {
  test.each([
    ["/v1/a?b=/c", "/v1/a"],
    ["/v1/a#b?c", "/v1/a"],
    ["/v1/%C3%A9", "/v1/\u00e9"],
    ["/v1/a%2Fb%3F", "/v1/a%2Fb%3F"],
    ["/v1/%25", "/v1/%25"],
    ["/v1/%E0-%41", "/v1/%E0-A"],
    ["/v1/%zz", "/v1/%zz"],
  ])("of %s is %s", (target, path) => {
    expect(createRequest(target).path).toBe(path);
  });
});

describe("a path parameter", () => {
  test.each([
    ["a", "a"],
    ["a%2Fb", "a/b"],
    ["..%2F..", "../.."],
    ["%252F", "%2F"],
    ["100%25", "100%"],
    ["%zz", "%zz"],
    ["%E0-%41", "%E0-A"],
    ["\u00e9", "\u00e9"],
  ])("%s is decoded once, to %s", (encoded, value) => {
    const request = createRequest(`/v1/${encoded}`);
    const [, , part = ""] = request.path.split("/");
    request.params = new Map([["id", part]]);
    expect(request.param("id")).toBe(value);
  });

  test("that the route does not have is an error", () => {
    expect(() => createRequest("/").param("__proto__")).toThrow("has no parameter");
  });
});

describe("a query parameter", () => {
  test("has its first value, decoded", () => {
    const request = createRequest("/a?x=1%202+3&x=4&y&%7A=%zz");
    expect(request.query("x")).toBe("1 2 3");
    expect(request.search.getAll("x")).toEqual(["1 2 3", "4"]);
    expect(request.query("y")).toBe("");
    expect(request.query("z")).toBe("%zz");
    expect(request.query("__proto__")).toBeUndefined();
  });

  test("ends before the fragment, and needs a name", () => {
    expect([...createRequest("/a?x=1&=2&y=3#&z=4").search.keys()]).toEqual(["x", "y"]);
    expect([...createRequest("/a#?x=1").search.keys()]).toEqual([]);
    expect(createRequest("/a").hasQuery).toBe(false);
  });
});

test("a header is found by its lowercase name", () => {
  expect(createRequest("/", { "X-Two": "1" }).header("x-two")).toBe("1");
  expect(createRequest("/").header("x-two")).toBeUndefined();
});
