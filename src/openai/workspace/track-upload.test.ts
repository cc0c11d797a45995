import { describe, expect, test } from "vitest";
import type { ByteProgress } from "../../base/track-bytes.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { trackDownloads, trackUnpacking, trackUpload } from "./track-upload.ts";

function createListener() {
  const clock = fakeClock();
  const reports: ByteProgress[] = [];
  const listener = { clock, onProgress: (one: ByteProgress) => void reports.push(one) };
  return { clock, reports, listener };
}

const createReports = (step: ByteProgress["step"], done: readonly number[], totalBytes: number) =>
  done.map((doneBytes) => ({ step, doneBytes, totalBytes }));

describe("trackUpload()", () => {
  const file = new File([new Uint8Array(300_000)], "a.tar");

  test("passes the file itself if no one listens", async () => {
    expect(await trackUpload(null, file, async (given) => given)).toBe(file);
  });

  test("reports the bytes that are read, and does not count a second attempt twice", async () => {
    const { clock, reports, listener } = createListener();
    const result = await trackUpload(listener, file, async (given) => {
      expect([given.name, given.size]).toEqual(["a.tar", 300_000]);
      await new Response(given.stream()).bytes();
      await clock.advance(1_000);
      const reader = given.stream().getReader();
      await reader.read();
      await clock.advance(1_000);
      await reader.cancel();
      return "sent";
    });
    expect(result).toBe("sent");
    expect(reports).toEqual(createReports("upload", [300_000, 300_000, 300_000], 300_000));
  });
});

describe("trackDownloads()", () => {
  test("counts nothing if no one listens", async () => {
    expect(await trackDownloads(null, 10, async (startCount) => startCount)).toBeUndefined();
  });

  test("adds up the bytes of all files, and counts a file that starts again from 0", async () => {
    const { clock, reports, listener } = createListener();
    await trackDownloads(listener, 100, async (startCount) => {
      const [one, other] = [startCount?.("file-1"), startCount?.("file-2")];
      one?.(10);
      one?.(20);
      other?.(5);
      await clock.advance(1_000);
      const again = startCount?.("file-1");
      again?.(40);
      await clock.advance(1_000);
    });
    expect(reports).toEqual(createReports("fetch", [35, 45, 100], 100));
  });

  test("reports no end if a download fails", async () => {
    const { clock, reports, listener } = createListener();
    const result = trackDownloads(listener, 100, async (startCount) => {
      startCount?.("file-1")(30);
      await clock.advance(1_000);
      throw new Error("The connection was lost.");
    });
    await expect(result).rejects.toThrow("The connection was lost.");
    expect(reports).toEqual(createReports("fetch", [30], 100));
    expect(clock.sleeping).toBe(0);
  });
});

describe("trackUnpacking()", () => {
  test("returns the result if no one listens", async () => {
    expect(await trackUnpacking(null, 10, async () => "unpacked")).toBe("unpacked");
  });

  test("reports 0 bytes until the archive is unpacked", async () => {
    const { clock, reports, listener } = createListener();
    const work = async () => {
      await clock.advance(1_000);
      return "unpacked";
    };
    expect(await trackUnpacking(listener, 10, work)).toBe("unpacked");
    expect(reports).toEqual(createReports("unpack", [0, 10], 10));
  });
});
