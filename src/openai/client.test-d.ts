import OpenAI, { type AzureOpenAI } from "openai";
import { describe, expectTypeOf, test } from "vitest";
import { type HttpClient, type OpenAIClient, openAIClient } from "./client.ts";

describe("an OpenAIClient", () => {
  test("is what the official client is, unchanged", () => {
    expectTypeOf<OpenAI>().toExtend<OpenAIClient>();
    expectTypeOf<AzureOpenAI>().toExtend<OpenAIClient>();
    const client: OpenAIClient = new OpenAI({ apiKey: "sk-test" });
    expectTypeOf(client).toEqualTypeOf<OpenAIClient>();
  });

  test("is what our own is", () => {
    expectTypeOf(openAIClient()).toEqualTypeOf<OpenAIClient>();
    expectTypeOf<HttpClient>().toExtend<OpenAIClient>();
  });

  test("is not what lacks a part of it", () => {
    expectTypeOf<Pick<OpenAI, "responses" | "files">>().not.toExtend<OpenAIClient>();
  });

  test("gives nothing away about results that nobody checked", () => {
    expectTypeOf(openAIClient().responses.create({})).toEqualTypeOf<PromiseLike<unknown>>();
  });
});
