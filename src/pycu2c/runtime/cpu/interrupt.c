/* Early termination of launches. Part of the pool.
 *
 * One thread, the owner, runs a callback during its launches, which returns whether to end them. (It
 * is the main thread of Python: the callback runs Python's signal handlers, and Ctrl-C raises an
 * exception.) The watchdog, a thread that wakes ten times a second, requests the callback when a
 * launch takes long. It runs between two chunks, while the owner waits for workers, or during a
 * body, in a signal handler. To end the launch, the handler jumps (siglongjmp) to where its thread
 * called the body. The workers leave their bodies in the same way.
 *
 * A body may be stopped between any two instructions, because it holds no lock and no memory.
 * Functions that it calls may hold some, as malloc does at the first access to a thread-local
 * variable. So only a thread that executes code of the kernel itself is stopped; others are tried
 * again.
 *
 * The callback may launch kernels, too. These nested launches run in threads of their own, because
 * the owner has thread-local variables of the interrupted kernel.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1") /* this saves a third of the compile time and costs 2 ns per launch */
#endif
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__linux__)
#include <link.h>
#include <ucontext.h>
#endif

typedef void (*Body)(const void *args, int64_t first, int64_t last);

#if defined(_WIN32) /* there are no signals, and no launch has an owner: launches run to their end */
#pragma GCC diagnostic ignored "-Wunused-function"
typedef char sigjmp_buf;
#define sigsetjmp(buffer, mask) ((void)(buffer), 0)
#else
#ifndef SI_TKILL /* the error code of pthread_kill on Linux */
#define SI_TKILL SI_USER
#endif
#define INTERRUPT_SIGNAL SIGURG /* it is ignored by default, and may arrive spuriously */
#endif

enum {
    WATCHDOG_PERIOD_NS = 100000000,
    MAX_QUIET_PERIODS = 5,   /* periods without a launch before the watchdog sleeps */
    GRACE_NS = 1000000,      /* for the callback to run between chunks, before signals are sent */
    RETRY_NS = 50000,        /* delay before a signal that stopped no thread is sent again, */
    FAST_RETRIES = 5000,     /* this number of times; then less often */
    SLOW_RETRY_NS = 2000000,
    WATCHDOG_STACK_BYTES = 256 << 10
};

/* The state of a thread that runs bodies. */
typedef struct {
    sigjmp_buf start;    /* where it continues after it has left a body */
    atomic_bool in_body; /* whether it executes a body */
} BodyState;

typedef struct Launch {
    BodyState state;
    Body body;
    const void *callee; /* a function that the body calls; its library may be stopped in, too */
    const void *args;
    int64_t count;     /* number of indices that the body is called for */
    int64_t row;       /* number of indices in a row of the grid */
    bool has_startup;  /* whether each call of the body has startup and shutdown code */
    bool owned;        /* by the owner */
    atomic_bool ended; /* threads leave their bodies, and start no more */
    int forks;         /* number of forks of the process at its start */
    struct Launch *outer;
} Launch;

static _Atomic(pthread_t) owner;
/* The callback: whether the launch of the owner should end. 0: there is no owner. */
static int (*check_interrupts)(void) = 0;
static int forks = 0;

static Launch *innermost_launch = 0;         /* of the owner, which alone reads this */
static _Atomic(Body) running_body;           /* of that launch; 0 while the callback runs */
static _Atomic(const void *) running_callee; /* the function that this body calls */
static const void *next_callee = 0;          /* of the next launch of the owner */
static _Atomic uint64_t launch_count = 0;    /* of the owner, so far */
static atomic_bool check_requested = false;  /* the callback should run */

enum { ABSENT, AWAKE, ASLEEP };
static atomic_int watchdog_state = ABSENT;
static pthread_mutex_t watchdog_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watchdog_wake = PTHREAD_COND_INITIALIZER;

static void wake_caller(void); /* of the pool: wakes the owner if it sleeps */
static Launch *job_of_worker(BodyState **state); /* of the pool: the job of this thread, if it is a worker */

static void sleep_ns(int64_t ns) {
    struct timespec pause = {0, (long)ns};
    nanosleep(&pause, 0);
}

static void sleep_before_retry(int tries) {
    sleep_ns(tries < FAST_RETRIES ? RETRY_NS : SLOW_RETRY_NS);
}

static bool is_owner(void) { return pthread_equal(pthread_self(), atomic_load(&owner)); }

/* ---- the code of the running kernel ---- */

enum { PAGE = 4096, PAGE_COUNT_BITS = 24 };

/* The text segments of the body and of its callee: the number of the first page, and in the lowest
 * PAGE_COUNT_BITS the number of pages. */
static _Atomic uint64_t text_segments[2];

typedef struct {
    uintptr_t function;
    uint64_t text;
} SegmentSearch;

#if defined(__linux__)
static int find_text_segment(struct dl_phdr_info *library, size_t size, void *data) {
    SegmentSearch *search = data;
    (void)size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uint64_t first = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        uint64_t last = first + library->dlpi_phdr[i].p_memsz;
        if (library->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (search->function < first || search->function >= last) continue;
        uint64_t pages = (last + PAGE - 1) / PAGE - first / PAGE;
        search->text = first / PAGE << PAGE_COUNT_BITS | pages;
        return 1;
    }
    return 0;
}

static uint64_t text_segment_of(uintptr_t function) {
    SegmentSearch search = {function, 0};
    dl_iterate_phdr(find_text_segment, &search);
    return search.text;
}
#else
static uint64_t text_segment_of(uintptr_t function) { return 0 & function; }
#endif

static void find_text_segments(Body body, const void *callee) {
    atomic_store(&text_segments[0], text_segment_of((uintptr_t)body));
    atomic_store(&text_segments[1], callee ? text_segment_of((uintptr_t)callee) : 0);
}

/* Return whether the interrupted thread was executing this code. Where that is unknown, launches end
 * only between two chunks. */
static bool was_in_kernel_code(void *context) {
#if defined(__linux__) && defined(__x86_64__)
    uint64_t program_counter = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__) && defined(__aarch64__)
    uint64_t program_counter = ((ucontext_t *)context)->uc_mcontext.pc;
#else
    uint64_t program_counter = 0;
    (void)context;
#endif
    const uint64_t page_count_mask = (UINT64_C(1) << PAGE_COUNT_BITS) - 1;
    for (int i = 0; i < 2; i++) {
        uint64_t text = atomic_load(&text_segments[i]);
        uint64_t first = text >> PAGE_COUNT_BITS, count = text & page_count_mask;
        if (program_counter / PAGE - first < count) return true;
    }
    return false;
}

/* ---- the callback of the owner ---- */

static void run_body(Launch *launch, BodyState *state, int64_t first, int64_t last) {
    atomic_store_explicit(&state->in_body, true, memory_order_relaxed);
    launch->body(launch->args, first, last);
    atomic_store_explicit(&state->in_body, false, memory_order_relaxed);
}

static bool was_forked(const Launch *launch) { return launch->forks != forks; }

static void publish_running(const Launch *launch) {
    atomic_store_explicit(&running_callee, launch->callee, memory_order_relaxed);
    atomic_store_explicit(&running_body, launch->body, memory_order_release);
}

/* Runs in the owner, outside of bodies. The callback may launch kernels and may fork. */
static void run_check(Launch *launch) {
    if (!atomic_exchange(&check_requested, false)) return;
    atomic_store(&running_body, (Body)0);
    if (check_interrupts() || was_forked(launch)) atomic_store(&launch->ended, true);
    publish_running(launch);
}

static void run_check_if_requested(Launch *launch) {
    if (!launch->owned) return;
    if (atomic_load_explicit(&check_requested, memory_order_relaxed)) run_check(launch);
}

static bool has_ended(const Launch *launch) {
    return atomic_load_explicit(&launch->ended, memory_order_relaxed);
}

/* Whether the callback may run on a stack other than the owner's, such as those of fibers.c. Python
 * from 3.14 on would detect a stack overflow there, and end the process. */
static bool check_on_any_stack = true;

enum { MAX_STACK_BYTES = 64 << 20 };

static bool may_check_on_this_stack(const Launch *launch) {
    char here;
    /* the launch is a variable of an outer frame, so on the same stack it is at most this far above */
    uintptr_t above = (uintptr_t)launch - (uintptr_t)&here;
    return check_on_any_stack || above < MAX_STACK_BYTES;
}

static Launch *launch_of_nested_thread(BodyState **state);

#if defined(_WIN32)
static void install_interrupt_handler(void) {}
static void interrupt_thread(pthread_t thread) { (void)thread; }
#else
typedef void (*Handler)(int, siginfo_t *, void *);
static _Atomic(Handler) previous_handler;

static void on_interrupt_signal(int number, siginfo_t *info, void *context) {
    int error = errno;
    BodyState *state = 0;
    Launch *launch = is_owner() ? innermost_launch : job_of_worker(&state);
    if (!launch && !state) launch = launch_of_nested_thread(&state);
    if (launch && !state) state = &launch->state;
    if (state && atomic_load(&state->in_body) && was_in_kernel_code(context)) {
        atomic_store(&state->in_body, false);
        if (state == &launch->state && may_check_on_this_stack(launch)) run_check(launch);
        if (has_ended(launch)) siglongjmp(state->start, 1);
        atomic_store(&state->in_body, true);
    }
    Handler before = atomic_load(&previous_handler);
    if (before && info->si_code != SI_TKILL) before(number, info, context);
    errno = error;
}

/* Install the handler; it forwards signals of other senders to the previous handler. */
static void install_interrupt_handler(void) {
    struct sigaction now, ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    sigaction(INTERRUPT_SIGNAL, 0, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt_signal) return;
    bool none = now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN;
    /* a handler with fewer arguments, too */
    atomic_store(&previous_handler, none ? (Handler)0 : now.sa_sigaction);
    ours.sa_sigaction = on_interrupt_signal;
    sigemptyset(&ours.sa_mask);
    sigaction(INTERRUPT_SIGNAL, &ours, 0);
}

static void interrupt_thread(pthread_t thread) { pthread_kill(thread, INTERRUPT_SIGNAL); }
#endif

/* ---- launches from the callback ---- */

/* A launch from the callback. It runs in a thread of its own, as one call of its body. */
typedef struct NestedLaunch {
    BodyState state;
    Launch *launch;
    _Atomic(pthread_t) thread;
    atomic_bool done;
    struct NestedLaunch *outer;
} NestedLaunch;

static _Atomic(NestedLaunch *) nested_launches;

static Launch *launch_of_nested_thread(BodyState **state) {
    for (NestedLaunch *nested = atomic_load(&nested_launches); nested; nested = nested->outer) {
        if (!pthread_equal(atomic_load(&nested->thread), pthread_self())) continue;
        *state = &nested->state;
        return nested->launch;
    }
    return 0;
}

static void *nested_main(void *pointer) {
    NestedLaunch *nested = pointer;
    atomic_store(&nested->thread, pthread_self());
    Launch *launch = nested->launch;
    if (!sigsetjmp(nested->state.start, 0)) run_body(launch, &nested->state, 0, launch->count);
    atomic_store(&nested->done, true); /* its last action: the state belongs to the owner again */
    return 0;
}

static bool start_thread(void *(*main)(void *), void *argument, size_t stack_bytes);

static bool run_nested(Launch *launch, size_t stack_bytes) {
    NestedLaunch nested = {.launch = launch, .outer = atomic_load(&nested_launches)};
    atomic_store(&nested_launches, &nested);
    bool started = start_thread(nested_main, &nested, stack_bytes);
    for (int tries = 1; started && !atomic_load(&nested.done); tries++) {
        run_check_if_requested(launch);
        if (was_forked(launch)) break;
        if (has_ended(launch) && atomic_load(&nested.state.in_body)) {
            find_text_segments(launch->body, launch->callee);
            install_interrupt_handler();
            interrupt_thread(atomic_load(&nested.thread));
        }
        sleep_before_retry(tries);
    }
    atomic_store(&nested_launches, nested.outer);
    return started;
}

/* ---- the watchdog ---- */

static void request_check(Body body) {
    find_text_segments(body, atomic_load(&running_callee));
    install_interrupt_handler();
    atomic_store(&check_requested, true);
    wake_caller();
    sleep_ns(GRACE_NS);
    for (int tries = 1; atomic_load(&check_requested) && atomic_load(&running_body); tries++) {
        interrupt_thread(atomic_load(&owner));
        wake_caller();
        sleep_before_retry(tries);
    }
    atomic_store(&check_requested, false);
}

static void sleep_until_launch(uint64_t number) {
    pthread_mutex_lock(&watchdog_mutex);
    /* before the last check: the owner increments launch_count, then reads the state */
    atomic_store(&watchdog_state, ASLEEP);
    while (atomic_load(&launch_count) == number) pthread_cond_wait(&watchdog_wake, &watchdog_mutex);
    atomic_store(&watchdog_state, AWAKE);
    pthread_mutex_unlock(&watchdog_mutex);
}

static void *watchdog_main(void *nothing) {
    uint64_t seen = 0;
    for (int quiet = 0;;) {
        sleep_ns(WATCHDOG_PERIOD_NS);
        uint64_t number = atomic_load(&launch_count);
        Body body = atomic_load(&running_body);
        if (number != seen || body) quiet = 0;
        if (body) {
            request_check(body);
        } else if (++quiet > MAX_QUIET_PERIODS) {
            sleep_until_launch(number);
            quiet = 0;
        }
        seen = number;
    }
    return nothing;
}

/* Start a thread that blocks all signals but INTERRUPT_SIGNAL and faults. */
static bool start_thread(void *(*main)(void *), void *argument, size_t stack_bytes) {
#if !defined(_WIN32)
    static const int own[] = {INTERRUPT_SIGNAL, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t others, old;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &old);
#endif
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    bool started = pthread_create(&thread, &attributes, main, argument) == 0;
    pthread_attr_destroy(&attributes);
#if !defined(_WIN32)
    pthread_sigmask(SIG_SETMASK, &old, 0);
#endif
    return started;
}

static void wake_watchdog(void) {
    if (atomic_load(&watchdog_state) == ABSENT) {
        atomic_store(&watchdog_state, AWAKE); /* also if the thread does not start: no more attempts */
        start_thread(watchdog_main, 0, WATCHDOG_STACK_BYTES);
        return;
    }
    pthread_mutex_lock(&watchdog_mutex);
    atomic_store(&watchdog_state, AWAKE);
    pthread_cond_signal(&watchdog_wake);
    pthread_mutex_unlock(&watchdog_mutex);
}

/* ---- launches ---- */

static void begin_launch(Launch *launch, Body body, const void *args, int64_t count) {
    atomic_init(&launch->state.in_body, false);
    atomic_init(&launch->ended, false);
    launch->body = body;
    launch->callee = 0;
    launch->args = args;
    launch->count = count;
    launch->forks = forks;
    launch->owned = check_interrupts && is_owner();
    if (!launch->owned) return;
    launch->outer = innermost_launch;
    innermost_launch = launch;
    launch->callee = next_callee;
    next_callee = 0;
    publish_running(launch);
    atomic_fetch_add(&launch_count, 1);
    if (atomic_load(&watchdog_state) != AWAKE) wake_watchdog();
}

static void finish_launch(const Launch *launch) {
    if (!launch->owned) return;
    innermost_launch = launch->outer; /* if there is one, its owner is in the callback */
    atomic_store_explicit(&running_body, (Body)0, memory_order_relaxed);
}

/* The thread that forked is the owner now. */
static void reset_owner_in_child(void) {
    forks++;
    if (!is_owner()) innermost_launch = 0;
    atomic_store(&owner, pthread_self());
    atomic_store(&running_body, (Body)0);
    atomic_store(&check_requested, false);
    atomic_store(&watchdog_state, ABSENT);
    pthread_mutex_init(&watchdog_mutex, 0);
    pthread_cond_init(&watchdog_wake, 0);
}

/* Set a function that the bodies of the next launch of the owner call. */
void pycu2c_pool_announce_callee(const void *function) {
    if (check_interrupts && is_owner()) next_callee = function;
}

/* Set whether the callback may run on any stack. */
void pycu2c_pool_check_on_any_stack(int may) { check_on_any_stack = may; }

/* Set the owner, and the callback that says whether its launch should end. */
void pycu2c_pool_set_owner(pthread_t thread, int (*check)(void)) {
#if defined(_WIN32)
    (void)thread, (void)check;
#else
    atomic_store(&owner, thread);
    check_interrupts = check;
#endif
}
