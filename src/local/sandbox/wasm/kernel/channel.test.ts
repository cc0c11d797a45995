import { expect, test } from "vitest";
import { encodeFrame } from "../frames.ts";
import { CHANNEL, KernelChannel } from "./channel.ts";

test("The child's side of the channel reads and writes whole messages, in small parts", () => {
  let input = encodeFrame({ type: "changes", changes: [] });
  let output = Buffer.alloc(0);
  const channel = new KernelChannel({
    read(descriptor, bytes, offset) {
      expect(descriptor).toBe(CHANNEL.commands);
      const part = input.copy(bytes, offset, 0, 3);
      input = input.subarray(part);
      return part;
    },
    write(descriptor, bytes, offset) {
      expect(descriptor).toBe(CHANNEL.messages);
      const part = bytes.subarray(offset, offset + 5);
      output = Buffer.concat([output, part]);
      return part.length;
    },
  });
  expect(channel.receive()).toEqual({ type: "changes", changes: [] });
  expect(channel.receive()).toBeNull();
  input = encodeFrame({ type: "changes" }).subarray(0, 12); // the parent ended in the middle
  expect(channel.receive()).toBeNull();
  channel.send({ type: "ready" });
  expect(output).toEqual(encodeFrame({ type: "ready" }));
});
