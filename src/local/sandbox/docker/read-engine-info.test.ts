import { describe, expect, test } from "vitest";
import {
  createStubEngine,
  DOCKER_INFO,
  PODMAN_INFO,
  printJson,
} from "../../../../tests/support/local/stub-engine.ts";
import { readEngineInfo } from "./read-engine-info.ts";

const read = (info: string) => readEngineInfo(createStubEngine({ info }));

describe("readEngineInfo", () => {
  test("reads what Docker reports", async () => {
    const plain = { engine: "docker", rootless: false, selinux: false };
    expect(await read(printJson(DOCKER_INFO))).toEqual(plain);
    const SecurityOptions = ["name=seccomp,profile=builtin", "name=rootless", "name=selinux"];
    const secured = { ...DOCKER_INFO, SecurityOptions };
    expect(await read(printJson(secured))).toEqual({ ...plain, rootless: true, selinux: true });
  });

  test("recognizes Podman behind the name docker", async () => {
    const info = { engine: "podman", rootless: true, selinux: false };
    expect(await read(printJson(PODMAN_INFO))).toEqual(info);
  });

  test("explains a client without a daemon", async () => {
    const ServerErrors = ["Cannot connect to the Docker daemon at unix:///s. Is it running?"];
    expect(await read(printJson({ ServerErrors }))).toContain("start Docker Desktop");
    expect(await read("echo 'Cannot connect to the Docker daemon' >&2; exit 1")).toContain(
      "start Docker Desktop",
    );
  });

  test("rejects Windows containers and answers that are not JSON", async () => {
    expect(await read(printJson({ OSType: "windows" }))).toContain("switch it to Linux containers");
    for (const answer of ["echo hello", "echo 5", "echo null"]) {
      expect(await read(answer)).toContain("info printed no JSON: update docker");
    }
  });
});
