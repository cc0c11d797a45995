import { expect, test } from "vitest";
import { readFromKernel } from "./messages.ts";

const bytes = new Uint8Array([1]);

test.each([
  { type: "ready" },
  { type: "failed", problem: "no" },
  { type: "output", stream: "stderr", bytes },
  { type: "ran", error: null, images: [{ mediaType: "image/png", base64: "" }], timedOut: true },
  {
    type: "changes",
    changes: [
      { change: "file", path: "a", bytes },
      { change: "gone", path: "b" },
    ],
  },
  { type: "kept", left: ["a"] },
])("a message $type of the interpreter is read as it is", (message) => {
  expect(readFromKernel(message)).toEqual(message);
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
  { type: "ran", error: null, images: [{ mediaType: "text/html", base64: "" }], timedOut: true },
  { type: "ran", error: null, images: [1], timedOut: true },
  { type: "changes", changes: [{ change: "file", path: "a" }] },
  { type: "changes", changes: [{ change: "link", path: "a", bytes }] },
  { type: "changes", changes: [{ change: "gone", path: 1 }] },
  { type: "changes", changes: ["a"] },
  { type: "kept", left: [1] },
])("%j is no message of the interpreter", (message) => {
  expect(readFromKernel(message)).toBeNull();
});
