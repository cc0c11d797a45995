import { expect, test } from "vitest";
import { parseKernelMessage } from "./kernel-messages.ts";

const bytes = new Uint8Array([1]);

test.each([
  { type: "ready" },
  { type: "failed", problem: "no" },
  { type: "output", stream: "stderr", bytes },
  { type: "ran", error: null, images: [bytes], timedOut: true },
  {
    type: "changes",
    changes: [
      { change: "file", path: "a", bytes, more: true },
      { change: "file", path: "a", bytes },
      { change: "deleted", path: "b" },
    ],
  },
  { type: "filesSent", rejected: ["a"] },
])("parseKernelMessage() accepts a message of type $type unchanged", (message) => {
  expect(parseKernelMessage(message)).toEqual(message);
});

test.each([
  null,
  "ready",
  { type: "exec" },
  { type: "failed", problem: 1 },
  { type: "output", stream: "stdin", bytes },
  { type: "output", stream: "stdout", bytes: "text" },
  { type: "ran", error: 1, images: [], timedOut: true },
  { type: "ran", error: null, images: [], timedOut: 1 },
  { type: "ran", error: null, images: "", timedOut: true },
  { type: "ran", error: null, images: ["text"], timedOut: true },
  { type: "ran", error: null, images: [1], timedOut: true },
  { type: "changes", changes: [{ change: "file", path: "a" }] },
  { type: "changes", changes: [{ change: "link", path: "a", bytes }] },
  { type: "changes", changes: [{ change: "deleted", path: 1 }] },
  { type: "changes", changes: ["a"] },
  { type: "filesSent", rejected: [1] },
])("parseKernelMessage() rejects %j", (message) => {
  expect(parseKernelMessage(message)).toBeNull();
});
