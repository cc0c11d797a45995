import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../../base/errors.ts";
import { upstreamModel } from "./upstream-model.ts";

const good = { baseURL: "http://127.0.0.1:1/v1", model: "m" };

describe("upstreamModel() options", () => {
  test("accept all fields without sending a request", () => {
    const options = { ...good, apiKey: "EMPTY", api: "responses", timeoutMs: 1, fetch } as const;
    expect(Object.isFrozen(upstreamModel(options))).toBe(true);
    expect(() => upstreamModel(good)).not.toThrow();
  });

  test.each<[unknown, string]>([
    [undefined, "upstreamModel(options) must be an object"],
    [{ ...good, url: "x" }, 'upstreamModel key must be one of "api", "apiKey", "baseURL"'],
    [{ model: "m" }, "upstreamModel.baseURL must be an http: or https: URL, got undefined"],
    [{ ...good, baseURL: "localhost:80" }, "upstreamModel.baseURL must be an http: or https: URL"],
    [{ ...good, baseURL: "http://" }, "upstreamModel.baseURL must be an http: or https: URL"],
    [
      { ...good, baseURL: "http://a.test/#b" },
      "upstreamModel.baseURL must not contain a user name, a password, ? or #",
    ],
    [{ ...good, model: " " }, 'upstreamModel.model must be a non-blank string, got " "'],
    [{ ...good, model: 1 }, "upstreamModel.model must be a non-blank string"],
    [{ ...good, api: "grpc" }, 'upstreamModel.api must be "chat" or "responses", got "grpc"'],
    [{ ...good, timeoutMs: 0 }, "upstreamModel.timeoutMs must be a positive integer, got 0"],
    [{ ...good, timeoutMs: 1.5 }, "upstreamModel.timeoutMs must be a positive integer"],
    [{ ...good, fetch: "x" }, "upstreamModel.fetch must be a function"],
  ])("reject %j", (options, message) => {
    expect(() => upstreamModel(options as never)).toThrow(InvalidOptionError);
    expect(() => upstreamModel(options as never)).toThrow(message);
  });

  test.each([
    { ...good, apiKey: "sk-secret with spaces" },
    { ...good, apiKey: "sk-secret\n" },
    { ...good, apiKey: "" },
    { ...good, baseURL: "http://me:sk-secret@a.test" },
    { ...good, baseURL: "http://a.test?key=sk-secret" },
    { ...good, baseURL: "a.test?key=sk-secret" },
  ])("are not quoted in the error for %j", (options) => {
    expect(() => upstreamModel(options)).toThrow(/got a secret \(not shown\)/);
    expect(() => upstreamModel(options)).not.toThrow(/sk-secret/);
  });

  test("are not quoted in the error for an unknown option", () => {
    const make = () => upstreamModel({ ...good, apikey: "sk-secret" } as never);
    expect(make).toThrow(
      'upstreamModel key must be a known option, got "apikey". Did you mean "apiKey"?',
    );
    expect(make).not.toThrow(/sk-secret/);
  });
});
