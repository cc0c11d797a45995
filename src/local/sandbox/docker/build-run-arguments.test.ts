import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { toContainerLimits } from "../container-limits.ts";
import {
  buildRunArguments,
  type ContainerSettings,
  readProcessLimit,
  SUPERVISOR_BYTES,
} from "./build-run-arguments.ts";

const SETTINGS: ContainerSettings = {
  info: { engine: "docker", rootless: false, selinux: false },
  user: { user: "501:20", keepId: false, owner: null },
  image: "sha256:abc",
  root: "/data/one",
  limits: toContainerLimits({ root: "/data/one", memoryBytes: 2 ** 28, maxProcesses: 32 }),
};

function build(settings: Partial<ContainerSettings> = {}): readonly string[] {
  return buildRunArguments({ ...SETTINGS, ...settings }, "name", ["python3", "-c", "1"]);
}

function valuesOf(args: readonly string[], option: string): readonly (string | undefined)[] {
  return args.flatMap((argument, index) => (argument === option ? [args[index + 1]] : []));
}

const PODMAN = { engine: "podman", rootless: true, selinux: false } as const;

describe("readProcessLimit", () => {
  test("reads the hard limit, at most 32,768", () => {
    const { name } = temporaryLimits("Max processes             96349                20000");
    expect(readProcessLimit(name)).toBe(20_000);
    const unlimited = temporaryLimits(
      "Max processes             10   unlimited            processes",
    );
    expect(readProcessLimit(unlimited.name)).toBe(32_768);
  });

  test("returns null if the limits cannot be read", () => {
    expect(readProcessLimit("/nowhere")).toBeNull();
  });
});

function temporaryLimits(line: string): { readonly name: string } {
  return { name: `${temporaryTree({ limits: `Limit  Soft  Hard\n${line}\n` })}/limits` };
}

describe("buildRunArguments", () => {
  test("confines the container", () => {
    const args = build();
    expect(args).toEqual(expect.arrayContaining(["--read-only", "--no-healthcheck", "--rm"]));
    for (const [option, value] of [
      ["--network", "none"],
      ["--cap-drop", "ALL"],
      ["--security-opt", "no-new-privileges"],
      ["--pull", "never"],
      ["--user", "501:20"],
      ["--ipc", "private"],
      ["--cgroupns", "private"],
      ["--pids-limit", "36"],
      ["--memory", String(2 ** 28 + SUPERVISOR_BYTES)],
      ["--memory-swap", String(2 ** 28 + SUPERVISOR_BYTES)],
      ["--shm-size", String(2 ** 26)],
      ["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${2 ** 26}`],
    ] as const) {
      expect(valuesOf(args, option), option).toEqual([value]);
    }
    for (const option of ["--privileged", "--env", "-e", "--volume", "-v", "--device"]) {
      expect(args).not.toContain(option);
    }
  });

  test("starts the command from an empty environment, without the image's variables", () => {
    const args = build();
    expect(args.slice(args.indexOf("--entrypoint"))).toEqual([
      ...["--entrypoint", "/usr/bin/env", "sha256:abc", "-i", "HOME=/tmp", "USER=sandbox"],
      ...["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", "MPLBACKEND=Agg"],
      ...["MPLCONFIGDIR=/tmp", "OPENBLAS_NUM_THREADS=1", "MALLOC_ARENA_MAX=2"],
      ...["python3", "-c", "1"],
    ]);
  });

  test("quotes a folder's path, so that it adds no mount option", () => {
    const root = '/data/a,readonly,"b":/etc\n,c';
    expect(valuesOf(build({ root }), "--mount")).toEqual([
      '"type=bind","source=/data/a,readonly,""b"":/etc\n,c","target=/mnt/data"',
    ]);
  });

  test("keeps the host's name servers and proxies out", () => {
    expect(valuesOf(build(), "--dns")).toEqual(["192.0.2.1"]);
    const podman = build({ info: PODMAN });
    expect(podman).toEqual(expect.arrayContaining(["--http-proxy=false", "--no-hosts"]));
    expect(podman).not.toContain("--dns");
  });

  test("maps the current user to itself in rootless Podman", () => {
    expect(valuesOf(build(), "--userns")).toEqual([]);
    const user = { ...SETTINGS.user, keepId: true };
    expect(valuesOf(build({ info: PODMAN, user }), "--userns")).toEqual(["keep-id"]);
  });

  test("labels the folder for Podman on SELinux", () => {
    const [mount] = valuesOf(build({ info: { ...PODMAN, selinux: true } }), "--mount");
    expect(mount).toContain('"relabel=private"');
  });
});
