import { expect, test } from "vitest";
import {
  ContainerFilesystem,
  ContainerManager,
  createMountWorkspace,
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
