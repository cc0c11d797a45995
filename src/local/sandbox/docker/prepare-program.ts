const LIMIT_CHECK = `
def is_enforced(most, *files):
    for file in files:
        try:
            with open("/sys/fs/cgroup/" + file) as limit:
                return int(limit.read()) <= most
        except (OSError, ValueError):
            pass
    return False

def find_enforced(memory, processes):
    return {
        "memory": is_enforced(memory, "memory.max", "memory/memory.limit_in_bytes"),
        "processes": is_enforced(processes, "pids.max", "pids/pids.max"),
    }
`;

/**
 * Runs in a container before the supervisor, in Python. It installs the system call filter, because the
 * engine's own profile allows far more, and checks which limits the kernel enforces: an engine accepts
 * limits that it then ignores, as rootless Podman does on cgroup v1.
 */
export const PREPARE_PROGRAM: string = `
import json, resource, sys
${LIMIT_CHECK}
def install_filter(text):
    import base64, ctypes
    code = base64.b64decode(text)
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(22, 2, ctypes.byref(Program(len(code) // 8, code)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The system call filter was refused")

def prepare():
    settings, memory, code = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    settings["enforced"].update(find_enforced(memory, settings["processes"]))
    if settings["enforced"]["processes"]:
        # The supervisor's own limit counts all processes of the user, including those outside.
        most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        settings["processes"] = most if most != resource.RLIM_INFINITY else 1 << 20
    sys.argv[1:] = [json.dumps(settings)]
    if code:
        install_filter(code)

prepare()
`;

/** Creates a program that prints which limits the kernel enforces as JSON, for a trial run. */
export function createLimitCheck(memoryBytes: number, processes: number): string {
  return `import json\n${LIMIT_CHECK}\nprint(json.dumps(find_enforced(${memoryBytes}, ${processes})))`;
}
