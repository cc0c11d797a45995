import OpenAI, { type AzureOpenAI } from "openai";
import { describe, expectTypeOf, test } from "vitest";
import type {
  BinaryAnswer,
  ContainerFilesClient,
  NewContainer,
  OpenAIClient,
  PageQuery,
} from "./client.ts";
import { type HttpClient, openAIClient } from "./http-client.ts";

describe("OpenAIClient", () => {
  test("accepts the official client", () => {
    expectTypeOf<OpenAI>().toExtend<OpenAIClient>();
    expectTypeOf<AzureOpenAI>().toExtend<OpenAIClient>();
    const client: OpenAIClient = new OpenAI({ apiKey: "sk-test" });
    expectTypeOf(client).toEqualTypeOf<OpenAIClient>();
  });

  test("accepts the built-in client", () => {
    expectTypeOf(openAIClient()).toEqualTypeOf<OpenAIClient>();
    expectTypeOf<HttpClient>().toExtend<OpenAIClient>();
  });

  test("rejects a client with missing parts", () => {
    expectTypeOf<Pick<OpenAI, "responses" | "files">>().not.toExtend<OpenAIClient>();
    const { containers, ...rest } = new OpenAI({ apiKey: "sk-test" });
    const { files, ...others } = containers;
    expectTypeOf({ ...rest, containers: others }).not.toExtend<OpenAIClient>();
    expectTypeOf(files).toExtend<ContainerFilesClient>();
    expectTypeOf(files.content).toExtend<ContainerFilesClient["content"]>();
    expectTypeOf<Omit<ContainerFilesClient, "list">>().not.toExtend<ContainerFilesClient>();
  });

  test("accepts the official client's containers and matches their params", () => {
    expectTypeOf<OpenAI["containers"]>().toExtend<OpenAIClient["containers"]>();
    type Asked<Method extends (...parameters: never) => unknown> = Parameters<Method>[1];
    type Official = OpenAI["containers"];
    expectTypeOf<PageQuery>().toExtend<NonNullable<OpenAI.Containers.FileListParams>>();
    expectTypeOf<Asked<ContainerFilesClient["create"]>>().toExtend<
      Asked<Official["files"]["create"]>
    >();
    expectTypeOf<Pick<NewContainer, "name" | "expires_after" | "memory_limit">>().toExtend<
      Parameters<Official["create"]>[0]
    >();
  });

  test("accepts a Response as binary content", () => {
    expectTypeOf<Response>().toExtend<BinaryAnswer>();
    expectTypeOf<{ arrayBuffer(): Promise<ArrayBuffer> }>().toExtend<BinaryAnswer>();
    expectTypeOf<BinaryAnswer["body"]>().toEqualTypeOf<
      ReadableStream<Uint8Array> | null | undefined
    >();
  });

  test("returns unknown results", () => {
    expectTypeOf(openAIClient().responses.create({})).toEqualTypeOf<PromiseLike<unknown>>();
  });
});
