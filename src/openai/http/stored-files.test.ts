import { describe, expect, test } from "vitest";
import { createInterceptionFixture } from "../../../tests/support/workspace/interception-fixture.ts";
import { deleteStoredFile, storeFile } from "./stored-files.ts";

const createBody = () => ({ file: new File(["abc"], "a.tar"), purpose: "user_data" }) as const;

describe("storeFile() and deleteStoredFile()", () => {
  test("store a file and delete it", async () => {
    const stage = await createInterceptionFixture([]);
    const id = await storeFile(stage.client, createBody());
    expect(id).toMatch(/^file/);
    await deleteStoredFile(stage.client, id);
    expect(stage.requests).toEqual(["POST /files", `DELETE /files/${id}`]);
    await expect(deleteStoredFile(stage.client, id)).rejects.toMatchObject({
      name: "OpenAIRequestError",
      status: 404,
    });
  });

  test.each([
    ["a failure", 503, '{"error":{"message":"Later."}}', "failed with status 503: Later"],
    ["a response without an id", 200, '{"object":"file"}', "an object without an id"],
  ])("report %s after one request", async (_, status, body, message) => {
    const stage = await createInterceptionFixture([]);
    stage.intercept(() => ({ status, body }));
    await expect(storeFile(stage.client, createBody())).rejects.toThrow(message);
    expect(stage.requests).toEqual(["POST /files"]);
  });

  test("delete nothing if the client cannot", async () => {
    const stage = await createInterceptionFixture([]);
    const { create, content } = stage.client.files;
    await deleteStoredFile({ ...stage.client, files: { create, content } }, "file-1");
    expect(stage.requests).toEqual([]);
  });

  test("refuse an id that would change the request's path", async () => {
    const stage = await createInterceptionFixture([]);
    await expect(deleteStoredFile(stage.client, "..")).rejects.toThrow("fileId");
    expect(stage.requests).toEqual([]);
  });
});
