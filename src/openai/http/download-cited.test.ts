import { describe, expect, test } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import { type RouteAnswer, wireServer } from "../../../tests/support/wire-server.ts";
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

describe.each(clients)("a cited file, on %s,", (_, client) => {
  async function download(
    routes: Readonly<Record<string, RouteAnswer | (() => RouteAnswer)>>,
    citation: ContainerFileCitation | FileCitation,
    signal?: AbortSignal,
  ) {
    await using server = await wireServer([], { routes });
    const clock = fakeClock({ skipsSleep: true });
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", ...client(server.url), clock });
    return await adapter.downloadFile(citation, { signal });
  }

  test("that code made comes from its container", async () => {
    const bytes = new Uint8Array([0, 255, 10, 13, 128]);
    const routes = { "GET /containers/cntr_1/files/cfile_1/content": { bytes } };
    expect(await download(routes, made)).toEqual(bytes);
  });

  test("that was uploaded comes from the files", async () => {
    const routes = { "GET /files/file-1/content": { bytes: "text" } };
    expect(new TextDecoder().decode(await download(routes, stored))).toBe("text");
  });

  test("is asked for again where that may help", async () => {
    let asked = 0;
    const busy = { status: 503, error: { message: "Busy", type: "server_error" } };
    const routes = {
      "GET /files/file-1/content": () => (++asked < 3 ? busy : { bytes: "text" }),
    };
    expect(await download(routes, stored)).toHaveLength(4);
    expect(asked).toBe(3);
  });

  test("whose server stays busy fails with the last answer", async () => {
    const busy = { status: 503, error: { message: "Busy", type: "server_error" } };
    const failed = download({ "GET /files/file-1/content": () => busy }, stored);
    await expect(failed).rejects.toMatchObject({ name: "OpenAIRequestError", status: 503 });
  });

  test("that is not there is not asked for again", async () => {
    const failed = download({}, stored);
    await expect(failed).rejects.toMatchObject({ name: "OpenAIRequestError", status: 404 });
  });

  test.each(["Container with id 'cntr_1' not found.", "Container is expired."])(
    "whose container is gone is gone with it: %s",
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

  test("is no longer waited for once that is cancelled", async () => {
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
    "with the id %o is refused, with nothing sent",
    async (id) => {
      const failed = download({}, { ...made, fileId: id });
      await expect(failed).rejects.toMatchObject({ name: "InvalidOptionError" });
    },
  );

  test("must be a file", async () => {
    const url = { type: "url", span: null, url: "https://a.example", title: "A" };
    const failed = download({}, url as unknown as FileCitation);
    await expect(failed).rejects.toThrow("must be a citation of a file");
  });
});
