import { expect, test } from "vitest";
import { CountedFile } from "./counted-file.ts";

test("a CountedFile counts the bytes of its last stream", async () => {
  const file = new CountedFile([new Uint8Array(300_000), "end"], "a.bin");
  expect([file.size, file.name, file.readBytes]).toEqual([300_003, "a.bin", 0]);
  const reader = file.stream().getReader();
  const { value } = await reader.read();
  expect(file.readBytes).toBeGreaterThanOrEqual(value?.length ?? 0);
  expect(file.readBytes).toBeLessThan(file.size);
  await reader.cancel();
  expect((await new Response(file.stream()).bytes()).length).toBe(300_003);
  expect(file.readBytes).toBe(300_003);
});

test("a CountedFile that is copied before it is read counts nothing", async () => {
  const file = new CountedFile(["abc"], "a.txt");
  expect(await new File([file], "b.txt").text()).toBe("abc");
  expect(file.readBytes).toBe(0);
});
