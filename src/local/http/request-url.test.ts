import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { toRequestUrl } from "./request-url.ts";

const toUrl = (url: string, host: string | undefined = "localhost:8080") =>
  toRequestUrl({ url, headers: { host } } as IncomingMessage);

describe("the URL of a request", () => {
  test.each([
    ["/v1/a?b=c", "localhost:8080", "http://localhost:8080/v1/a?b=c"],
    ["/v1/%41", "localhost", "http://localhost/v1/%41"],
    ["/v1/../a", "localhost", "http://localhost/a"],
    ["/v1/%2e%2e/a", "localhost", "http://localhost/a"],
    ["//evil/v1", "localhost", "http://localhost//evil/v1"],
    ["/a?b=\\", "localhost", "http://localhost/a?b=\\"],
    ["/a", "LOCALHOST:80", "http://localhost/a"],
    ["/a", "[::1]:8080", "http://[::1]:8080/a"],
    ["/a", "[::1]", "http://[::1]/a"],
    ["/a", "my_host", "http://my_host/a"],
    ["http://other/v1", "localhost", "http://other/v1"],
    ["HTTP://other/v1", "localhost", "http://other/v1"],
  ])("with the target %s and the host %s is %s", (target, host, url) => {
    expect(toUrl(target, host)).toBe(url);
  });

  test.each([
    ["/", ""],
    ["/", "a b"],
    ["/", "localhost:65536"],
    ["/", "a@b"],
    ["/", "127.0.0.1%20"],
    ["/", "localhost/path"],
    ["/", "localhost?x"],
    ["/", "[::1"],
    ["/v1\\a", "localhost"],
    ["http://other\\a", "localhost"],
    ["*", "localhost"],
    ["", "localhost"],
    ["v1/a", "localhost"],
    ["http://", "localhost"],
    ["ftp://other/", "localhost"],
  ])("with the target %j and the host %j is invalid", (target, host) => {
    expect(toUrl(target, host)).toBeNull();
  });
});
