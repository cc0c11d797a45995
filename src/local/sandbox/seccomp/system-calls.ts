import { readTable } from "./read-table.ts";

/**
 * Numbers of Linux's system calls by name, for each architecture that has a filter. Written by
 * `scripts/write-system-calls.ts`. A line is the number of the first name; the others follow.
 */
export const SYSTEM_CALLS: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map([
  [
    "x64",
    readTable(`
0 read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
15 rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore
28 madvise shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile socket
42 connect accept sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair
54 setsockopt getsockopt clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd
70 msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir
84 rmdir creat link unlink symlink readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit
98 getrusage sysinfo times ptrace getuid syslog getgid setuid setgid geteuid getegid setpgid getppid getpgrp
112 setsid setreuid setregid getgroups setgroups setresuid getresuid setresgid getresgid getpgid setfsuid
123 setfsgid getsid capget capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack
132 utime mknod uselib personality ustat statfs fstatfs sysfs getpriority setpriority sched_setparam
143 sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min
148 sched_rr_get_interval mlock munlock mlockall munlockall vhangup modify_ldt pivot_root _sysctl prctl
158 arch_prctl adjtimex setrlimit chroot sync acct settimeofday mount umount2 swapon swapoff reboot
170 sethostname setdomainname iopl ioperm create_module init_module delete_module get_kernel_syms query_module
179 quotactl nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid readahead setxattr lsetxattr
190 fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr
199 fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup io_destroy
208 io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old epoll_wait_old
216 remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create
223 timer_settime timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime clock_getres
230 clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy
240 mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key
249 request_key keyctl ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages
257 openat mkdirat mknodat fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat
268 fchmodat faccessat pselect6 ppoll unshare set_robust_list get_robust_list splice tee sync_file_range
278 vmsplice move_pages utimensat epoll_pwait signalfd timerfd_create eventfd fallocate timerfd_settime
287 timerfd_gettime accept4 signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev
297 rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at
304 open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv process_vm_writev kcmp
313 finit_module sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create kexec_file_load bpf
322 execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free
332 statx io_pgetevents rseq
424 pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig
432 fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2
442 mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret
448 process_mrelease futex_waitv set_mempolicy_home_node
`),
  ],
  [
    "arm64",
    readTable(`
0 io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr fsetxattr getxattr lgetxattr
10 fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr getcwd lookup_dcookie
19 eventfd2 epoll_create1 epoll_ctl epoll_pwait dup dup3 fcntl inotify_init1 inotify_add_watch
28 inotify_rm_watch ioctl ioprio_set ioprio_get flock mknodat mkdirat unlinkat symlinkat linkat renameat
39 umount2 mount pivot_root nfsservctl statfs fstatfs truncate ftruncate fallocate faccessat chdir fchdir
51 chroot fchmod fchmodat fchownat fchown openat close vhangup pipe2 quotactl getdents64 lseek read write
65 readv writev pread64 pwrite64 preadv pwritev sendfile pselect6 ppoll signalfd4 vmsplice splice tee
78 readlinkat newfstatat fstat sync fsync fdatasync sync_file_range timerfd_create timerfd_settime
87 timerfd_gettime utimensat acct capget capset personality exit exit_group waitid set_tid_address unshare
98 futex set_robust_list get_robust_list nanosleep getitimer setitimer kexec_load init_module delete_module
107 timer_create timer_gettime timer_getoverrun timer_settime timer_delete clock_settime clock_gettime
114 clock_getres clock_nanosleep syslog ptrace sched_setparam sched_setscheduler sched_getscheduler
121 sched_getparam sched_setaffinity sched_getaffinity sched_yield sched_get_priority_max
126 sched_get_priority_min sched_rr_get_interval restart_syscall kill tkill tgkill sigaltstack rt_sigsuspend
134 rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigreturn setpriority
141 getpriority reboot setregid setgid setreuid setuid setresuid getresuid setresgid getresgid setfsuid
152 setfsgid times setpgid getpgid getsid setsid getgroups setgroups uname sethostname setdomainname getrlimit
164 setrlimit getrusage umask prctl getcpu gettimeofday settimeofday adjtimex getpid getppid getuid geteuid
176 getgid getegid gettid sysinfo mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
186 msgget msgctl msgrcv msgsnd semget semctl semtimedop semop shmget shmctl shmat shmdt socket socketpair
200 bind listen accept connect getsockname getpeername sendto recvfrom setsockopt getsockopt shutdown sendmsg
212 recvmsg readahead brk munmap mremap add_key request_key keyctl clone execve mmap fadvise64 swapon swapoff
226 mprotect msync mlock munlock mlockall munlockall mincore madvise remap_file_pages mbind get_mempolicy
237 set_mempolicy migrate_pages move_pages rt_tgsigqueueinfo perf_event_open accept4 recvmmsg
260 wait4 prlimit64 fanotify_init fanotify_mark name_to_handle_at open_by_handle_at clock_adjtime syncfs setns
269 sendmmsg process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2
277 seccomp getrandom memfd_create bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2
288 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq kexec_file_load
424 pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig
432 fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2
442 mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret
448 process_mrelease futex_waitv set_mempolicy_home_node
`),
  ],
]);
