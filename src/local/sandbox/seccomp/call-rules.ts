/** A test of one argument of a system call. */
export interface ArgumentTest {
  /** Which argument, counted from 0. */
  readonly argument: number;
  /** Bits that are compared. The kernel ignores the upper half of an `int`, and so does the test. @default the lower 32 bits */
  readonly mask?: number | "all 64" | undefined;
  /** The value that these bits must have. */
  readonly equals: number;
}

/** What happens to a system call that is not simply allowed. */
export interface CallRule {
  readonly names: readonly string[];
  /** Allowed if every test of one of these lists holds. Never allowed if there is none. */
  readonly allowed: readonly (readonly ArgumentTest[])[];
  /** The error of a refused call. Callers with a fallback need the one they expect from an old kernel. */
  readonly errno: number;
}

export const EPERM = 1;
export const ENOSYS = 38;
const EINVAL = 22;
const ENOTTY = 25;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

/** Rules for system calls whose arguments decide, and for those that fail with another error than EPERM. */
export const CALL_RULES: readonly CallRule[] = [
  // The flags of both are in memory, where a filter cannot read them. Callers fall back to clone and openat.
  refuse(ENOSYS, "clone3", "openat2"),
  // Each can wake a stopped process by a signal, or uses a resource that all processes of the host's user share.
  refuse(ENOSYS, "timer_create", "inotify_init", "inotify_init1", "io_setup"),
  refuse(ENOSYS, "io_uring_setup", "mbind", "set_mempolicy", "get_mempolicy", "pkey_alloc"),
  // Reserves space that was never written. Callers write zeros instead.
  refuse(EOPNOTSUPP, "fallocate"),
  // Attributes take space that no limit counts.
  refuse(EOPNOTSUPP, "setxattr", "lsetxattr", "fsetxattr"),
  // A pipe would hold pages of deleted files, and with one page the huge page around it. Callers copy instead.
  refuse(EINVAL, "sendfile", "splice", "tee", "vmsplice"),
  // Programs that confine themselves with their own filter continue without it.
  refuse(EINVAL, "seccomp"),

  // No new namespaces, and at its end no signal to its parent other than SIGCHLD.
  {
    names: ["clone"],
    allowed: [17, 0].map((signal) => [{ argument: 0, mask: 0x7e02_00ff, equals: signal }]),
    errno: EPERM,
  },
  // No huge pages (MAP_HUGETLB): they come from the host's pool and are in no count.
  { names: ["mmap"], allowed: [[{ argument: 3, mask: 0x4_0000, equals: 0 }]], errno: EPERM },
  // Only AF_UNIX: buffers of network sockets are memory that no limit counts.
  {
    names: ["socket", "socketpair"],
    allowed: [[{ argument: 0, equals: 1 }]],
    errno: EAFNOSUPPORT,
  },
  // SOL_SOCKET: REUSEADDR, KEEPALIVE, LINGER, REUSEPORT, PASSCRED, RCVTIMEO, SNDTIMEO, and the last two with 64 bits.
  {
    names: ["setsockopt"],
    allowed: [2, 9, 13, 15, 16, 20, 21, 66, 67].map((option) => [
      { argument: 1, equals: 1 },
      { argument: 2, equals: option },
    ]),
    errno: EPERM,
  },
  // Reads any limit, sets only its own.
  {
    names: ["prlimit64"],
    allowed: [[{ argument: 2, mask: "all 64", equals: 0 }], [{ argument: 0, equals: 0 }]],
    errno: EPERM,
  },
  // PRIO_PROCESS of itself.
  {
    names: ["setpriority"],
    allowed: [
      [
        { argument: 0, equals: 0 },
        { argument: 1, equals: 0 },
      ],
    ],
    errno: EPERM,
  },
  // DUPFD, GETFD, SETFD, GETFL, locks, DUPFD_CLOEXEC, GETPIPE_SZ, GET_SEALS; SETFL without O_ASYNC.
  {
    names: ["fcntl"],
    allowed: [
      ...[0, 1, 2, 3, 5, 6, 7, 36, 37, 38, 1030, 1032, 1034].map((command) => [
        { argument: 1, equals: command },
      ]),
      [
        { argument: 1, equals: 4 },
        { argument: 2, mask: 0x2000, equals: 0 },
      ],
    ],
    errno: EPERM,
  },
  // TCGETS, TCGETS2, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FS_IOC_GETFLAGS.
  {
    names: ["ioctl"],
    allowed: [0x5401, 0x802c_542a, 0x540f, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x8008_6601].map(
      (request) => [{ argument: 1, equals: request }],
    ),
    errno: ENOTTY,
  },
  // SET_PDEATHSIG only with SIGKILL, SIGTERM or none. GET_PDEATHSIG, GET_DUMPABLE, SET_DUMPABLE, GET_KEEPCAPS,
  // SET_NAME, GET_NAME, GET_SECCOMP, CAPBSET_READ, SET_TIMERSLACK, GET_TIMERSLACK, SET_CHILD_SUBREAPER,
  // GET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS, GET_NO_NEW_PRIVS, GET_TID_ADDRESS, SET_THP_DISABLE,
  // GET_THP_DISABLE, SET_VMA.
  {
    names: ["prctl"],
    allowed: [
      ...[0, 9, 15].map((signal) => [
        { argument: 0, equals: 1 },
        { argument: 1, equals: signal },
      ]),
      ...[2, 3, 4, 7, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 40, 41, 42, 0x5356_4d41].map(
        (option) => [{ argument: 0, equals: option }],
      ),
    ],
    errno: EPERM,
  },
  // Asking (0xffffffff), and the default.
  {
    names: ["personality"],
    allowed: [0xffff_ffff, 0].map((persona) => [{ argument: 0, equals: persona }]),
    errno: EPERM,
  },
  // Regular files, FIFOs and sockets. The type of a file is in the upper four bits of its mode.
  ...(
    [
      ["mknod", 1],
      ["mknodat", 2],
    ] as const
  ).map(([name, argument]) => ({
    names: [name],
    allowed: [0, 0x8000, 0x1000, 0xc000].map((type) => [{ argument, mask: 0xf000, equals: type }]),
    errno: EPERM,
  })),
];

function refuse(errno: number, ...names: readonly string[]): CallRule {
  return { names, allowed: [], errno };
}
