/**
 * What a caged process may ask of the kernel, as a filter program that bubblewrap installs before it starts it: memory of
 * its own, threads, waiting, reading the files that the wall shows, and the pipes that it was given. All else fails as if
 * the kernel did not have it: no process, no socket, no shared or nameless file in memory, no namespace, no other user.
 *
 * The numbers are the kernel's, and never change: x86-64, then the common table that arm64 has; 0 stands for "has none".
 */

type Numbers = readonly [x64: number, arm64: number];

const ALLOWED: Readonly<Record<string, Numbers>> = {
  // Its pipes, and the files that it is shown.
  ...{ write: [1, 64], readv: [19, 65], writev: [20, 66], pread64: [17, 67], close: [3, 57], openat: [257, 56] },
  ...{ open: [2, 0], stat: [4, 0], lstat: [6, 0], fstat: [5, 80], newfstatat: [262, 79], statx: [332, 291] },
  ...{ access: [21, 0], faccessat: [269, 48], faccessat2: [439, 439], readlink: [89, 0], readlinkat: [267, 78] },
  ...{ lseek: [8, 62], getcwd: [79, 17], ioctl: [16, 29], fcntl: [72, 25], dup: [32, 23], dup3: [292, 24] },
  ...{ pipe2: [293, 59], getsockopt: [55, 209], getsockname: [51, 204], getpeername: [52, 205] },
  ...{ sendto: [44, 206], recvfrom: [45, 207], sendmsg: [46, 211], recvmsg: [47, 212], shutdown: [48, 210] },
  // Memory.
  ...{ munmap: [11, 215], mprotect: [10, 226], mremap: [25, 216], madvise: [28, 233], brk: [12, 214] },
  // Threads, signals to itself, waiting.
  ...{ futex: [202, 98], set_robust_list: [273, 99], get_robust_list: [274, 100], set_tid_address: [218, 96] },
  ...{ rseq: [334, 293], membarrier: [324, 283], rt_sigaction: [13, 134], rt_sigprocmask: [14, 135] },
  ...{ rt_sigreturn: [15, 139], rt_sigtimedwait: [128, 137], sigaltstack: [131, 132], kill: [62, 129] },
  ...{ tgkill: [234, 131], wait4: [61, 260], exit: [60, 93], exit_group: [231, 94], restart_syscall: [219, 128] },
  ...{ epoll_create1: [291, 20], epoll_ctl: [233, 21], epoll_wait: [232, 0], epoll_pwait: [281, 22] },
  ...{ eventfd2: [290, 19], poll: [7, 0], ppoll: [271, 73], select: [23, 0], pselect6: [270, 72] },
  ...{ nanosleep: [35, 101], clock_nanosleep: [230, 115], sched_yield: [24, 124] },
  // The time, and what it is itself.
  ...{ clock_gettime: [228, 113], clock_getres: [229, 114], gettimeofday: [96, 169], getrandom: [318, 278] },
  ...{ getpid: [39, 172], getppid: [110, 173], gettid: [186, 178], getuid: [102, 174], geteuid: [107, 175] },
  ...{ getgid: [104, 176], getegid: [108, 177], capget: [125, 90], uname: [63, 160], sysinfo: [99, 179] },
  ...{ getrusage: [98, 165], times: [100, 153], getrlimit: [97, 163], prlimit64: [302, 261] },
  ...{ sched_getaffinity: [204, 123], sched_getparam: [143, 121], sched_getscheduler: [145, 120] },
  ...{ getpriority: [140, 141], prctl: [157, 167], arch_prctl: [158, 0] },
  // Bubblewrap's last step is to start Node.
  execve: [59, 221],
};
/** `read` has number 0 on x86-64, which means "none" above. */
const READ: Numbers = [0, 63];
/** Only with this bit, of the first argument: a thread, not a process. */
const CLONE: Numbers = [56, 220];
const CLONE_THREAD = 0x10000;
/** Only without this bit, of the fourth argument: memory that is shared counts towards no limit of a process. */
const MMAP: Numbers = [9, 222];
const MAP_SHARED = 1;

const ARCHITECTURES: Readonly<Record<string, readonly [column: 0 | 1, audit: number]>> = {
  x64: [0, 0xc000003e],
  arm64: [1, 0xc00000b7],
};

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_BITS = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const FAIL = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
/** Where the kernel shows what is asked: the call's number, the architecture, the low halves of its arguments. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENTS = 16;

type FilterStep = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The program as the kernel takes it; undefined where the numbers are not known. */
export function seccompFilter(architecture: string = process.arch): Uint8Array | undefined {
  const known = ARCHITECTURES[architecture];
  if (!known) return undefined;
  const [column, audit] = known;
  const allowed = Object.values(ALLOWED).flatMap(numbers => (numbers[column] === 0 ? [] : [numbers[column]]));
  const plain = [READ[column], ...allowed];
  const steps: FilterStep[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    // Behind these come eight steps of the two calls whose arguments matter; the last of all allows.
    ...plain.map((number, i): FilterStep => [IF_EQUAL, plain.length - 1 - i + 8, 0, number]),
    [IF_EQUAL, 0, 2, CLONE[column]],
    [LOAD, 0, 0, ARGUMENTS],
    [IF_BITS, 5, 4, CLONE_THREAD],
    [IF_EQUAL, 0, 2, MMAP[column]],
    [LOAD, 0, 0, ARGUMENTS + 3 * 8],
    [IF_BITS, 1, 2, MAP_SHARED],
    [RETURN, 0, 0, FAIL | ENOSYS],
    [RETURN, 0, 0, FAIL | EPERM],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(steps.length * 8);
  for (const [i, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(ifTrue, i * 8 + 2);
    bytes.writeUInt8(ifFalse, i * 8 + 3);
    bytes.writeUInt32LE(value, i * 8 + 4);
  }
  return bytes;
}
