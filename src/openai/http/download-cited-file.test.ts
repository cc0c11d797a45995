import { describe, expect, test } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import { type RouteAnswer, startWireServer } from "../../../tests/support/wire-server.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import type { ContainerFileCitation, FileCitation } from "../../tools/hosted/citation.ts";
import { OpenAIAdapter } from "../adapter.ts";

const made: ContainerFileCitation = {
  type: "containerFile",
  span: null,
  containerId: "cntr_1",
  fileId: "cfile_1",
  filename: "plot.png",
};
const stored: FileCitation = { type: "file", span: null, fileId: "file-1", filename: "a.pdf" };

describe.each(clients)("downloadFile() on %s", (_, client) => {
  async function download(
    routes: Readonly<Record<string, RouteAnswer | (() => RouteAnswer)>>,
    citation: ContainerFileCitation | FileCitation,
    signal?: AbortSignal,
  ) {
    await using server = await startWireServer([], { routes });
    const clock = fakeClock({ skipsSleep: true });
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", ...client(server.url), clock });
    return await adapter.downloadFile(citation, { signal });
  }

  test("downloads a file from a container", async () => {
    const bytes = new Uint8Array([0, 255, 10, 13, 128]);
    const routes = { "GET /containers/cntr_1/files/cfile_1/content": { bytes } };
    expect(await download(routes, made)).toEqual(bytes);
  });

  test("downloads an uploaded file", async () => {
    const routes = { "GET /files/file-1/content": { bytes: "text" } };
    expect(new TextDecoder().decode(await download(routes, stored))).toBe("text");
  });

  test("retries if that may help", async () => {
    let asked = 0;
    const busy = { status: 503, error: { message: "Busy", type: "server_error" } };
    const routes = {
      "GET /files/file-1/content": () => (++asked < 3 ? busy : { bytes: "text" }),
    };
    expect(await download(routes, stored)).toHaveLength(4);
    expect(asked).toBe(3);
  });

  test("throws the last response's error if the server stays busy", async () => {
    const busy = { status: 503, error: { message: "Busy", type: "server_error" } };
    const failed = download({ "GET /files/file-1/content": () => busy }, stored);
    await expect(failed).rejects.toMatchObject({ name: "OpenAIRequestError", status: 503 });
  });

  test("does not retry a missing file", async () => {
    const failed = download({}, stored);
    await expect(failed).rejects.toMatchObject({ name: "OpenAIRequestError", status: 404 });
  });

  test.each(["Container with id 'cntr_1' not found.", "Container is expired."])(
    "throws ContainerExpiredError if the container is lost: %s",
    async (said) => {
      const error = { message: said, type: "invalid_request_error" };
      const status = said.includes("expired") ? 400 : 404;
      const routes = { "GET /containers/cntr_1/files/cfile_1/content": { status, error } };
      await expect(download(routes, made)).rejects.toMatchObject({
        name: "ContainerExpiredError",
        containerId: "cntr_1",
        originalError: { status },
      });
    },
  );

  test("rejects with the signal's reason when aborted", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const routes = {
      "GET /files/file-1/content": () => {
        setTimeout(() => stop.abort(reason), 5);
        return { stall: true } as const;
      },
    };
    await expect(download(routes, stored, stop.signal)).rejects.toBe(reason);
  });

  test.each(["../../../etc", "", ".."])(
    "rejects the id %o without sending a request",
    async (id) => {
      const failed = download({}, { ...made, fileId: id });
      await expect(failed).rejects.toMatchObject({ name: "InvalidOptionError" });
    },
  );

  test("rejects a citation that is not a file", async () => {
    const url = { type: "url", span: null, url: "https://a.example", title: "A" };
    const failed = download({}, url as unknown as FileCitation);
    await expect(failed).rejects.toThrow("must be a file citation");
  });
});
