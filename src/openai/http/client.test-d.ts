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
    const { containers, ...rest } = new OpenAI({ apiKey: "sk-test" });
    const { files, ...others } = containers;
    expectTypeOf({ ...rest, containers: others }).not.toExtend<OpenAIClient>();
    expectTypeOf(files).toExtend<ContainerFilesClient>();
    expectTypeOf(files.content).toExtend<ContainerFilesClient["content"]>();
    expectTypeOf<Omit<ContainerFilesClient, "list">>().not.toExtend<ContainerFilesClient>();
  });

  test("has the official client's containers, and asks of them what they take", () => {
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

  test("gives bytes that a Response fits", () => {
    expectTypeOf<Response>().toExtend<BinaryAnswer>();
    expectTypeOf<{ arrayBuffer(): Promise<ArrayBuffer> }>().toExtend<BinaryAnswer>();
    expectTypeOf<BinaryAnswer["body"]>().toEqualTypeOf<
      ReadableStream<Uint8Array> | null | undefined
    >();
  });

  test("gives nothing away about results that nobody checked", () => {
    expectTypeOf(openAIClient().responses.create({})).toEqualTypeOf<PromiseLike<unknown>>();
  });
});
