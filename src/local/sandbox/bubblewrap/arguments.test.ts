import { describe, expect, test } from "vitest";
import { containerLimits } from "../limits.ts";
import { bubblewrapArguments, userFiles } from "./arguments.ts";
import type { Identity } from "./identity.ts";

function line(identity: Identity, root = "/srv/c", seccomp: number | null = 6): string {
  const limits = containerLimits({ root, memoryBytes: 4_000 });
  const descriptors = { status: 3, users: 4, groups: 5, seccomp };
  return bubblewrapArguments({ root, identity, limits, descriptors }).join(" ");
}

describe("bwrap's arguments", () => {
  test("give a plain user a namespace and no rights", () => {
    const asked = line({ kind: "namespace" });
    expect(asked).toContain("--unshare-all --unshare-user --uid 1000 --gid 1000");
    expect(asked).toContain("--cap-drop ALL");
    expect(asked).not.toContain("--cap-add");
    expect(asked).not.toContain("--share-net");
  });

  test("leave root's code with the two rights it needs to stop being root", () => {
    const asked = line({ kind: "own user", uid: 7 });
    expect(asked).toContain("--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID");
    for (const space of ["ipc", "pid", "net", "uts"]) expect(asked).toContain(`--unshare-${space}`);
    expect(asked).not.toContain("--unshare-user");
  });

  test("bind one folder for writing, and size all other memory", () => {
    const asked = line({ kind: "namespace" });
    expect(asked.match(/--bind \S+ \S+/g)).toEqual(["--bind /srv/c /mnt/data"]);
    expect(asked).toContain("--size 1000 --tmpfs /tmp");
    expect(asked).toContain("--size 1000 --tmpfs /dev/shm");
    expect(asked).toContain("--remount-ro /dev --remount-ro /");
    expect(asked).toContain("--clearenv");
  });

  test("have no filter where there is none for the machine", () => {
    expect(line({ kind: "namespace" })).toContain("--seccomp 6");
    expect(line({ kind: "namespace" }, "/srv/c", null)).not.toContain("--seccomp");
  });

  test("name the user as the code sees itself", () => {
    expect(userFiles({ kind: "namespace" }).users).toContain("sandbox:x:1000:1000:");
    expect(userFiles({ kind: "own user", uid: 7 }).groups).toContain("sandbox:x:7:");
  });
});
