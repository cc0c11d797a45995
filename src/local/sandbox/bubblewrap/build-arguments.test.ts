import { describe, expect, test } from "vitest";
import { toContainerLimits } from "../container-limits.ts";
import { buildArguments, buildUserFiles } from "./build-arguments.ts";
import type { Identity } from "./choose-identity.ts";

function buildCommandLine(identity: Identity, root = "/srv/c", seccomp: number | null = 6): string {
  const limits = toContainerLimits({ root, memoryBytes: 4_000 });
  const descriptors = { status: 3, users: 4, groups: 5, seccomp };
  return buildArguments({ root, identity, limits, descriptors }).join(" ");
}

describe("buildArguments()", () => {
  test("gives a regular user a namespace and no capabilities", () => {
    const command = buildCommandLine({ kind: "namespace" });
    expect(command).toContain("--unshare-all --unshare-user --uid 1000 --gid 1000");
    expect(command).toContain("--cap-drop ALL");
    expect(command).not.toContain("--cap-add");
    expect(command).not.toContain("--share-net");
  });

  test("keeps only the two capabilities that root's code needs to change its user", () => {
    const command = buildCommandLine({ kind: "own user", uid: 7 });
    expect(command).toContain("--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID");
    for (const space of ["ipc", "pid", "net", "uts"])
      expect(command).toContain(`--unshare-${space}`);
    expect(command).not.toContain("--unshare-user");
  });

  test("binds one folder for writing, and limits the size of all in-memory mounts", () => {
    const command = buildCommandLine({ kind: "namespace" });
    expect(command.match(/--bind \S+ \S+/g)).toEqual(["--bind /srv/c /mnt/data"]);
    expect(command).toContain("--size 1000 --tmpfs /tmp");
    expect(command).toContain("--size 1000 --tmpfs /dev/shm");
    expect(command).toContain("--remount-ro /dev --remount-ro /");
    expect(command).toContain("--clearenv");
  });

  test("omits the seccomp filter on an unsupported architecture", () => {
    expect(buildCommandLine({ kind: "namespace" })).toContain("--seccomp 6");
    expect(buildCommandLine({ kind: "namespace" }, "/srv/c", null)).not.toContain("--seccomp");
  });

  test("names the user as the code sees itself", () => {
    expect(buildUserFiles({ kind: "namespace" }).users).toContain("sandbox:x:1000:1000:");
    expect(buildUserFiles({ kind: "own user", uid: 7 }).groups).toContain("sandbox:x:7:");
  });
});
