import { describe, expect, test } from "vitest";
import { createStubEngine, IMAGE, printJson } from "../../../../tests/support/local/stub-engine.ts";
import { findImage } from "./find-image.ts";

const find = (image: string) => findImage(createStubEngine({ image }), "tools:1");
const [image] = IMAGE;

describe("findImage", () => {
  test("returns the digest and the architecture", async () => {
    expect(await find(printJson(IMAGE))).toEqual({ id: "sha256:abc", arch: "x64" });
    expect(await find(printJson([{ ...image, Architecture: "riscv64" }]))).toEqual({
      id: "sha256:abc",
      arch: "riscv64",
    });
  });

  test("names the command that pulls a missing image, and never runs it", async () => {
    for (const message of ["Error: No such image: tools:1", "Error: tools:1: image not known"]) {
      expect(await find(`echo '${message}' >&2; exit 1`)).toBe(
        "the image tools:1 is missing: docker pull tools:1",
      );
    }
  });

  test("rejects images with volumes and images of other systems", async () => {
    const volumes = [{ ...image, Config: { Volumes: { "/data": {} } } }];
    expect(await find(printJson(volumes))).toBe(
      "the image tools:1 declares the volume /data, which has no size limit: use an image without volumes",
    );
    expect(await find(printJson([{ ...image, Os: "windows" }]))).toContain("is not for Linux");
  });

  test("explains other problems and answers that are not JSON", async () => {
    expect(await find("echo 'disk is broken' >&2; exit 1")).toContain("disk is broken");
    for (const answer of ["echo hello", "echo '[]'"]) {
      expect(await find(answer)).toContain("image inspect printed no JSON: update docker");
    }
  });
});
