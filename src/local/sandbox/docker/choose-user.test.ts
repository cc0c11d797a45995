import { describe, expect, test } from "vitest";
import { chooseUser, readUidMap } from "./choose-user.ts";

const ROOTFUL = { engine: "docker", rootless: false, selinux: false } as const;
const WHOLE_MAP = "         0          0 4294967295\n";
const USER = { uid: 501, gid: 20 };
const ROOT = { uid: 0, gid: 0 };

describe("chooseUser", () => {
  test("runs code as the current user, who then owns its files", () => {
    expect(chooseUser(ROOTFUL, "/data", USER, WHOLE_MAP)).toEqual({
      user: "501:20",
      keepId: false,
      owner: null,
    });
  });

  test("maps the current user to itself in rootless Podman", () => {
    const podman = { ...ROOTFUL, engine: "podman", rootless: true } as const;
    expect(chooseUser(podman, "/data", USER, WHOLE_MAP)).toEqual({
      user: "501:20",
      keepId: true,
      owner: null,
    });
  });

  test("runs code as root in rootless Docker, which is the current user outside", () => {
    const docker = { ...ROOTFUL, rootless: true };
    expect(chooseUser(docker, "/data", USER, WHOLE_MAP).user).toBe("0:0");
  });

  test("gives each container of root an unused user, which must own the folder", () => {
    const { owner, user } = chooseUser(ROOTFUL, "/data", ROOT, WHOLE_MAP);
    expect(owner).toBeGreaterThan(0x7000_0000);
    expect(user).toBe(`${owner}:${owner}`);
    expect(chooseUser(ROOTFUL, "/other", ROOT, WHOLE_MAP).owner).not.toBe(owner);
  });

  test("runs code as the container's root where there are no other users", () => {
    expect(chooseUser(ROOTFUL, "/data", ROOT, "0 1000 1\n").user).toBe("0:0");
  });

  test("takes any user on Windows, and finds the current one by itself", () => {
    expect(chooseUser(ROOTFUL, "/data", { uid: -1, gid: -1 }, "").user).toBe("1000:1000");
    expect(chooseUser(ROOTFUL, "/data").user).toMatch(/^\d+:\d+$/);
    expect(readUidMap("/nowhere")).toBe("");
  });
});
