/** The functions that Pyodide's WebAssembly module imports from JavaScript, by name. */
export type WasmImports = Record<string, unknown>;

/**
 * Wraps every function that WebAssembly can call in JavaScript, in place. After `lock()` only those that read and
 * write WebAssembly's memory and its in-memory files remain: no function that is left takes or
 * returns a JavaScript object, evaluates text, loads code, or opens a socket. So Python has no way to an object of
 * JavaScript, even if it rewrites its own memory. A call to any other function ends in `deny`.
 */
export function guardImports(
  imports: WasmImports,
  deny: (name: string) => never,
): { lock(): void } {
  let locked = false;
  for (const [name, original] of Object.entries(imports)) {
    if (typeof original !== "function" || ALLOWED.has(name)) continue;
    const answer = ANSWERS.get(name);
    const callGuarded = (...args: readonly unknown[]): unknown => {
      if (!locked) return original(...args);
      return answer ?? deny(name);
    };
    // Pyodide keeps the signature and other facts about a function in its properties.
    imports[name] = Object.assign(callGuarded, original);
  }
  return {
    lock() {
      locked = true;
    },
  };
}

const ALLOWED: ReadonlySet<string> = new Set(
  `
fd_close fd_read fd_write fd_seek fd_sync fd_pread fd_pwrite fd_fdstat_get environ_get environ_sizes_get
clock_res_get clock_time_get random_get emscripten_date_now emscripten_get_now
_tzset_js _timegm_js _mktime_js _localtime_js _gmtime_js
__syscall_openat __syscall_fcntl64 __syscall_ioctl __syscall_faccessat __syscall_chdir __syscall_fchdir __syscall_getcwd
__syscall_chmod __syscall_fchmod __syscall_fchmodat2 __syscall_fchownat __syscall_fchown32 __syscall_dup __syscall_dup3
__syscall_fdatasync __syscall_stat64 __syscall_lstat64 __syscall_fstat64 __syscall_newfstatat __syscall_statfs64
__syscall_fstatfs64 __syscall_ftruncate64 __syscall_truncate64 __syscall_getdents64 __syscall_mkdirat __syscall_rmdir
__syscall_unlinkat __syscall_renameat __syscall_symlinkat __syscall_readlinkat __syscall_utimensat __syscall_pipe
__syscall_poll __syscall_fadvise64 __syscall_fallocate
_mmap_js _munmap_js _msync_js emscripten_resize_heap emscripten_get_heap_max
_Py_CheckEmscriptenSignals_Helper _PyEM_TrampolineCall_JS __call_sighandler _emscripten_get_progname
_dlsym_js ffi_call_js ffi_closure_alloc_js ffi_closure_free_js ffi_prep_closure_loc_js
`
    .trim()
    .split(/\s+/),
);

const NOT_SUPPORTED = -52; // ENOSYS in Emscripten

/** Functions that Python calls in ordinary code, and their fixed results. */
const ANSWERS: ReadonlyMap<string, number> = new Map([
  ["can_run_sync_js", 0],
  ["__syscall_getuid32_js", 0],
  ["__syscall_umask_js", 0],
  ["__syscall_mknodat", NOT_SUPPORTED],
  ["_setitimer_js", -1],
  ["_emscripten_system", 127 << 8],
  ["_emscripten_lookup_name", 0],
  ["getaddrinfo", -4],
  ["getnameinfo", -4],
  ["getprotobyname", 0],
  ["_try_fcntl64", 0],
  ["_try_shutdown", 0],
  ["_dlopen_js", 0],
  ["emscripten_runtime_keepalive_push", 0],
  ["emscripten_runtime_keepalive_pop", 0],
  ...["accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen"]
    .concat(["recvfrom", "recvmsg", "sendmsg", "sendto", "socket"])
    .map((name) => [`__syscall_${name}`, NOT_SUPPORTED] as const),
]);
