import { expect, test, vi } from "vitest";
import {
  ContainerFilesystem,
  ContainerManager,
  createMountWorkspace,
  nodeTransport,
  OpenAIContainerWorkspaceSection,
} from "./edge.ts";

const NODE_ONLY =
  'Node, and this bundle was built for an edge runtime or a browser. Run it on Node, in a bundle without the conditions "workerd", "edge-light", "worker" or "browser".';

test.each([OpenAIContainerWorkspaceSection, ContainerFilesystem, ContainerManager])(
  "%s cannot be constructed in a bundle for the edge",
  (nodeOnly) => {
    expect(() => new nodeOnly()).toThrow(`${nodeOnly.name} needs ${NODE_ONLY}`);
  },
);

test("hostMounts are refused in a bundle for the edge", () => {
  expect(() => createMountWorkspace({}, "code_interpreter")).toThrow(
    `Hosted tool "code_interpreter" has hostMounts, which need ${NODE_ONLY}`,
  );
});

test("requests are sent with the platform's fetch in a bundle for the edge", async () => {
  const fetch = vi.fn(async () => new Response("{}", { status: 418 }));
  vi.stubGlobal("fetch", fetch);
  const send = nodeTransport();
  const request = {
    method: "GET",
    url: "https://api.example/v1/files",
    headers: {},
    body: null,
    timeoutMs: 1000,
    signal: undefined,
  } as const;
  const { status, cancel } = await send(request).finally(() => vi.unstubAllGlobals());
  cancel();
  expect(status).toBe(418);
  expect(fetch).toHaveBeenCalledTimes(1);
});
