/**
 * System calls that code in a sandbox may make with any arguments: what Python, the shell and the usual
 * command line tools were seen to use, and their relatives that do the same. All others are refused,
 * except those in `call-rules.ts`.
 */
export const ALLOWED_CALLS: readonly string[] = `
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3
open openat creat stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 getdents getdents64
getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat link linkat symlink symlinkat readlink readlinkat
rename renameat renameat2 chmod fchmod fchmodat chown fchown lchown fchownat umask truncate ftruncate
fsync fdatasync sync_file_range utime utimes futimesat utimensat flock copy_file_range readahead fadvise64
getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr

fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill pidfd_open pidfd_send_signal
getpid getppid gettid getpgid getpgrp setpgid getsid setsid
getuid geteuid getgid getegid getresuid getresgid getgroups
setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups
capget getrusage times getrlimit setrlimit getpriority
sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_getattr sched_get_priority_max
sched_get_priority_min sched_rr_get_interval getcpu
set_tid_address set_robust_list get_robust_list rseq arch_prctl membarrier futex futex_waitv restart_syscall

rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigsuspend rt_sigreturn sigaltstack
signalfd signalfd4 pause alarm setitimer getitimer
brk munmap mremap mprotect madvise msync mincore munlock munlockall
time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep
timerfd_create timerfd_settime timerfd_gettime
pipe pipe2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
eventfd eventfd2
connect bind listen accept accept4 getsockname getpeername sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg
shutdown getsockopt
uname sysinfo getrandom
`
  .trim()
  .split(/\s+/);
