import { expect, onTestFinished, test, vi } from "vitest";
import { writeOutput } from "./write-output.ts";

test("waits until a slow reader of standard output has caught up", async () => {
  const written: unknown[] = [];
  let isFull = true;
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((piece) => {
    written.push(piece);
    return !isFull;
  });
  onTestFinished(() => spy.mockRestore());
  let hasReturned = false;
  const writing = writeOutput("first").then(() => {
    hasReturned = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  expect([written, hasReturned]).toEqual([["first"], false]);
  process.stdout.emit("drain");
  await writing;
  isFull = false;
  await writeOutput("second");
  expect(written).toEqual(["first", "second"]);
});
