/**
 * Builds the seccomp filter for `bwrap --seccomp`, or returns `null` for an unknown architecture. It blocks
 * system calls that a model's code does not need and that have been used to exploit the kernel. It also
 * blocks resources that the limits cannot measure: memory behind a file handle or a System V segment, and sockets that
 * are not confined by a network namespace.
 */
export function buildSeccompFilter(architecture: string): Buffer | null {
  const machine = MACHINES.get(architecture);
  if (machine === undefined) return null;
  const program: Instruction[] = [
    loadWord(ARCHITECTURE_OFFSET),
    [JUMP_IF_EQUAL, 1, 0, machine.audit],
    returnErrno(EPERM),
    loadWord(NUMBER_OFFSET),
    // Numbers from here on are the x32 variants of the same calls.
    [JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32_BIT],
    returnErrno(EPERM),
  ];
  for (const number of [...machine.blocked, ...BLOCKED_EVERYWHERE]) {
    program.push([JUMP_IF_EQUAL, 0, 1, number], returnErrno(EPERM));
  }
  // A filter cannot read the flags of clone3, which are in memory. With ENOSYS, callers fall back to clone.
  program.push([JUMP_IF_EQUAL, 0, 1, CLONE3], returnErrno(ENOSYS));
  program.push([JUMP_IF_EQUAL, 0, 4, machine.clone], loadWord(FIRST_ARGUMENT_OFFSET));
  program.push([JUMP_IF_ANY_BIT, 0, 1, NAMESPACE_FLAGS], returnErrno(EPERM), ALLOW);
  program.push([JUMP_IF_EQUAL, 0, SOCKET_FAMILIES.length + 2, machine.socket]);
  program.push(loadWord(FIRST_ARGUMENT_OFFSET));
  SOCKET_FAMILIES.forEach((family, index) => {
    program.push([JUMP_IF_EQUAL, SOCKET_FAMILIES.length - index, 0, family]);
  });
  program.push(returnErrno(EAFNOSUPPORT), ALLOW);
  return encodeFilter(program);
}

/** Code, jump if true, jump if false, value. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

interface Machine {
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  readonly blocked: readonly number[];
}

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const FIRST_ARGUMENT_OFFSET = 16;
const X32_BIT = 0x4000_0000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const CLONE3 = 435;
/** Every CLONE_NEW flag: mount, cgroup, uts, ipc, user, pid and net. */
const NAMESPACE_FLAGS = 0x7e02_0000;
/** unix, inet, inet6, netlink: all confined by the network namespace. vsock is not. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
const ALLOW: Instruction = [RETURN, 0, 0, 0x7fff_0000];

/**
 * System calls with the same number on every architecture: io_uring (3), open_tree, move_mount, fsopen,
 * fsconfig, fsmount, fspick, pidfd_getfd, process_madvise, mount_setattr, memfd_secret.
 */
const BLOCKED_EVERYWHERE = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 447];

/**
 * Blocked system calls, in this order: ptrace, process_vm_readv, process_vm_writev, kcmp, mount, umount2,
 * pivot_root, chroot, unshare, setns, add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd,
 * init_module, finit_module, delete_module, kexec_load, kexec_file_load, name_to_handle_at,
 * open_by_handle_at, memfd_create, shmget, mq_open, msgget, semget, quotactl, acct, swapon, swapoff, reboot,
 * syslog; on x86 also iopl, ioperm and lookup_dcookie.
 */
const MACHINES: ReadonlyMap<string, Machine> = new Map<string, Machine>([
  [
    "x64",
    {
      audit: 0xc000_003e,
      clone: 56,
      socket: 41,
      blocked: [
        101, 310, 311, 312, 165, 166, 155, 161, 272, 308, 248, 249, 250, 321, 298, 323, 175, 313,
        176, 246, 320, 303, 304, 319, 29, 240, 68, 64, 179, 163, 167, 168, 169, 103, 172, 173, 212,
      ],
    },
  ],
  [
    "arm64",
    {
      audit: 0xc000_00b7,
      clone: 220,
      socket: 198,
      blocked: [
        117, 270, 271, 272, 40, 39, 41, 51, 97, 268, 217, 218, 219, 280, 241, 282, 105, 273, 106,
        104, 294, 264, 265, 279, 194, 180, 186, 190, 60, 89, 224, 225, 142, 116,
      ],
    },
  ],
]);

function loadWord(offset: number): Instruction {
  return [LOAD_WORD, 0, 0, offset];
}

function returnErrno(errno: number): Instruction {
  return [RETURN, 0, 0, 0x0005_0000 | errno];
}

/** Encodes instructions as `struct sock_filter`, little-endian on both architectures. */
function encodeFilter(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
