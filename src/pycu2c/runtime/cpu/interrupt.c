/* Early termination of launches. Part of the pool.
 *
 * One thread, the owner, may be asked by a callback during its launches whether they should
 * continue. (It is the main thread of Python: Python then handles signals, and Ctrl-C raises an
 * exception.) The watchdog, a thread that wakes ten times a second, triggers the callback when a
 * launch takes long: between two parts, while the owner waits for workers, or inside a body, from a
 * signal handler. To end the launch, the handler does not return to the body: it jumps to where the
 * thread started it, and the workers leave their bodies in the same way.
 *
 * A body may be stopped between any two instructions: it holds no lock and no memory. Functions
 * that it calls may hold some, as malloc does at the first access to a thread-local variable. So
 * only a thread that executes code of the kernel itself is stopped; others are tried again.
 *
 * The callback may launch kernels, too. They run in threads of their own, because the owner has
 * thread-local variables of the interrupted kernel.
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

#ifndef SI_TKILL /* the error code of pthread_kill on Linux */
#define SI_TKILL SI_USER
#endif
#define NUDGE SIGURG /* it is ignored by default, and may arrive spuriously */

enum {
    TICK_NS = 100000000,     /* period of the watchdog */
    QUIET_TICKS = 5,         /* periods without a launch before it sleeps */
    PATIENCE_NS = 1000000,   /* duration after which even a short launch sees the request */
    PAUSE_NS = 50000,        /* delay before a thread that could not be stopped is tried again, */
    EAGER_TRIES = 5000,      /* this number of times; then less often */
    LONG_PAUSE_NS = 2000000,
    WATCH_STACK_BYTES = 256 << 10
};

/* The state of a thread that runs bodies. */
typedef struct {
    sigjmp_buf start;   /* where it continues after it leaves a body */
    atomic_bool inside; /* of a body */
} Seat;

typedef struct Launch {
    Seat seat;
    Body body;
    const void *callee; /* a function that the body calls, of a library that may be left, too */
    const void *args;
    int64_t count, row; /* number of bodies in execution; of the pool: number of rows */
    bool begins;       /* whether each part has startup and shutdown code */
    bool owned;        /* by the owner */
    atomic_bool ended; /* running bodies are left, and no more are started */
    int forks;         /* number of forks of the process at its start */
    struct Launch *outer;
} Launch;

static _Atomic(pthread_t) owner;
static int (*ask)(void) = 0; /* whether the launch of the owner should end; 0: there is no owner */
static int forks = 0;

static Launch *innermost = 0;         /* of the launches of the owner; only the owner reads this */
static _Atomic(Body) running;         /* its body, unless the callback runs */
static _Atomic(const void *) running_callee; /* and the function that it calls */
static const void *next_callee = 0;   /* of the next launch of the owner */
static _Atomic uint64_t launches = 0; /* of the owner, so far */
static atomic_bool question = false;  /* the callback should run */

enum { ABSENT, AWAKE, ASLEEP };
static atomic_int watch = ABSENT;
static pthread_mutex_t watchdog_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watchdog_wake = PTHREAD_COND_INITIALIZER;

static void wake_caller(void); /* of the pool: wakes the owner if it sleeps */
static Launch *job_of_worker(Seat **seat); /* of the pool: the job of this thread, if it is a worker */

static void nap(int64_t ns) {
    struct timespec pause = {0, (long)ns};
    nanosleep(&pause, 0);
}

static void nap_after(int tries) { nap(tries < EAGER_TRIES ? PAUSE_NS : LONG_PAUSE_NS); }

static bool is_owner(void) { return pthread_equal(pthread_self(), atomic_load(&owner)); }

/* ---- the code of the running kernel ---- */

enum { PAGE = 4096, FEW_BITS = 24 };

/* The first page of the code of the body and its callees, with the number of pages in FEW_BITS. */
static _Atomic uint64_t texts[2];

typedef struct {
    uintptr_t function;
    uint64_t text;
} Search;

#if defined(__linux__)
static int note_text(struct dl_phdr_info *library, size_t size, void *data) {
    Search *search = data;
    (void)size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uint64_t first = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        uint64_t last = first + library->dlpi_phdr[i].p_memsz;
        if (library->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (search->function < first || search->function >= last) continue;
        uint64_t pages = (last + PAGE - 1) / PAGE - first / PAGE;
        search->text = first / PAGE << FEW_BITS | pages;
        return 1;
    }
    return 0;
}

static uint64_t text_of(uintptr_t function) {
    Search search = {function, 0};
    dl_iterate_phdr(note_text, &search);
    return search.text;
}
#else
static uint64_t text_of(uintptr_t function) { return 0 & function; }
#endif

static void find_texts(Body body, const void *callee) {
    atomic_store(&texts[0], text_of((uintptr_t)body));
    atomic_store(&texts[1], callee ? text_of((uintptr_t)callee) : 0);
}

/* Return whether the interrupted thread was executing this code. Where that is unknown, launches end
 * only between two parts. */
static bool was_in_text(void *context) {
#if defined(__linux__) && defined(__x86_64__)
    uint64_t at = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__) && defined(__aarch64__)
    uint64_t at = ((ucontext_t *)context)->uc_mcontext.pc;
#else
    uint64_t at = 0;
    (void)context;
#endif
    const uint64_t few = (UINT64_C(1) << FEW_BITS) - 1;
    for (int i = 0; i < 2; i++) {
        uint64_t text = atomic_load(&texts[i]);
        if (at / PAGE - (text >> FEW_BITS) < (text & few)) return true;
    }
    return false;
}

/* ---- the callback of the owner ---- */

static void run_body(Launch *launch, Seat *seat, int64_t first, int64_t last) {
    atomic_store_explicit(&seat->inside, true, memory_order_relaxed);
    launch->body(launch->args, first, last);
    atomic_store_explicit(&seat->inside, false, memory_order_relaxed);
}

static bool was_forked(const Launch *launch) { return launch->forks != forks; }

static void show_running(const Launch *launch) {
    atomic_store_explicit(&running_callee, launch->callee, memory_order_relaxed);
    atomic_store_explicit(&running, launch->body, memory_order_release);
}

/* Runs in the owner, outside of bodies. The callback may launch kernels and may fork. */
static void answer(Launch *launch) {
    if (!atomic_exchange(&question, false)) return;
    atomic_store(&running, (Body)0);
    if (ask() || was_forked(launch)) atomic_store(&launch->ended, true);
    show_running(launch);
}

static void answer_if_asked(Launch *launch) {
    if (launch->owned && atomic_load_explicit(&question, memory_order_relaxed)) answer(launch);
}

static bool has_ended(const Launch *launch) {
    return atomic_load_explicit(&launch->ended, memory_order_relaxed);
}

/* Whether the callback may run on another stack, such as those of fibers.c. Python from 3.14 on ends
 * the process there, because it detects a stack overflow. */
static bool asked_anywhere = true;

enum { OWN_STACK = 64 << 20 };

static bool may_ask_here(const Launch *launch) {
    char here;
    uintptr_t above = (uintptr_t)launch - (uintptr_t)&here; /* the launch is in an outer frame */
    return asked_anywhere || above < OWN_STACK;
}

static Launch *job_of_guest(Seat **seat);

typedef void (*Handler)(int, siginfo_t *, void *);
static _Atomic(Handler) listener_before;

static void on_nudge(int number, siginfo_t *info, void *context) {
    int error = errno;
    Seat *seat = 0;
    Launch *launch = is_owner() ? innermost : job_of_worker(&seat);
    if (!launch && !seat) launch = job_of_guest(&seat);
    if (launch && !seat) seat = &launch->seat;
    if (seat && atomic_load(&seat->inside) && was_in_text(context)) {
        atomic_store(&seat->inside, false);
        if (seat == &launch->seat && may_ask_here(launch)) answer(launch);
        if (has_ended(launch)) siglongjmp(seat->start, 1);
        atomic_store(&seat->inside, true);
    }
    Handler before = atomic_load(&listener_before);
    if (before && info->si_code != SI_TKILL) before(number, info, context);
    errno = error;
}

/* Install the handler of the nudge signal; it forwards other signals to the previous handler. */
static void install_nudge_handler(void) {
    struct sigaction now, ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    sigaction(NUDGE, 0, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_nudge) return;
    bool none = now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN;
    /* a handler with fewer arguments, too */
    atomic_store(&listener_before, none ? (Handler)0 : now.sa_sigaction);
    ours.sa_sigaction = on_nudge;
    sigemptyset(&ours.sa_mask);
    sigaction(NUDGE, &ours, 0);
}

/* ---- launches from the callback ---- */

/* Runs in a thread of its own, one block after the other. */
typedef struct Guest {
    Seat seat;
    Launch *launch;
    _Atomic(pthread_t) thread;
    atomic_bool done;
    struct Guest *outer;
} Guest;

static _Atomic(Guest *) guests;

static Launch *job_of_guest(Seat **seat) {
    for (Guest *g = atomic_load(&guests); g; g = g->outer) {
        if (!pthread_equal(atomic_load(&g->thread), pthread_self())) continue;
        *seat = &g->seat;
        return g->launch;
    }
    return 0;
}

static void *guest_main(void *pointer) {
    Guest *g = pointer;
    atomic_store(&g->thread, pthread_self());
    if (!sigsetjmp(g->seat.start, 0)) run_body(g->launch, &g->seat, 0, g->launch->count);
    atomic_store(&g->done, true); /* its last action: the state belongs to the owner again */
    return 0;
}

static bool start_thread(void *(*main)(void *), void *argument, size_t stack_bytes);

static bool run_as_guest(Launch *launch, size_t stack_bytes) {
    Guest guest = {.launch = launch, .outer = atomic_load(&guests)};
    atomic_store(&guests, &guest);
    bool started = start_thread(guest_main, &guest, stack_bytes);
    for (int tries = 1; started && !atomic_load(&guest.done); tries++) {
        answer_if_asked(launch);
        if (was_forked(launch)) break;
        if (has_ended(launch) && atomic_load(&guest.seat.inside)) {
            find_texts(launch->body, launch->callee);
            install_nudge_handler();
            pthread_kill(atomic_load(&guest.thread), NUDGE);
        }
        nap_after(tries);
    }
    atomic_store(&guests, guest.outer);
    return started;
}

/* ---- the watchdog ---- */

static void have_owner_asked(Body body) {
    find_texts(body, atomic_load(&running_callee));
    install_nudge_handler();
    atomic_store(&question, true);
    wake_caller();
    nap(PATIENCE_NS);
    for (int tries = 1; atomic_load(&question) && atomic_load(&running); tries++) {
        pthread_kill(atomic_load(&owner), NUDGE);
        wake_caller();
        nap_after(tries);
    }
    atomic_store(&question, false);
}

static void sleep_until_launch(uint64_t number) {
    pthread_mutex_lock(&watchdog_mutex);
    atomic_store(&watch, ASLEEP); /* before the last look: the owner counts, then looks */
    while (atomic_load(&launches) == number) pthread_cond_wait(&watchdog_wake, &watchdog_mutex);
    atomic_store(&watch, AWAKE);
    pthread_mutex_unlock(&watchdog_mutex);
}

static void *watchdog_main(void *nothing) {
    uint64_t seen = 0;
    for (int quiet = 0;;) {
        nap(TICK_NS);
        uint64_t number = atomic_load(&launches);
        Body body = atomic_load(&running);
        if (number != seen || body) quiet = 0;
        if (body) {
            have_owner_asked(body);
        } else if (++quiet > QUIET_TICKS) {
            sleep_until_launch(number);
            quiet = 0;
        }
        seen = number;
    }
    return nothing;
}

/* Start a thread that blocks all signals but nudges and faults. */
static bool start_thread(void *(*main)(void *), void *argument, size_t stack_bytes) {
    static const int own[] = {NUDGE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t others, old;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &old);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    bool started = pthread_create(&thread, &attributes, main, argument) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, 0);
    return started;
}

static void wake_watchdog(void) {
    if (atomic_load(&watch) == ABSENT) {
        atomic_store(&watch, AWAKE); /* also if this fails: then the callback never runs */
        start_thread(watchdog_main, 0, WATCH_STACK_BYTES);
        return;
    }
    pthread_mutex_lock(&watchdog_mutex);
    atomic_store(&watch, AWAKE);
    pthread_cond_signal(&watchdog_wake);
    pthread_mutex_unlock(&watchdog_mutex);
}

/* ---- launches ---- */

static void begin(Launch *launch, Body body, const void *args, int64_t count) {
    atomic_init(&launch->seat.inside, false);
    atomic_init(&launch->ended, false);
    launch->body = body;
    launch->callee = 0;
    launch->args = args;
    launch->count = count;
    launch->forks = forks;
    launch->owned = ask && is_owner();
    if (!launch->owned) return;
    launch->outer = innermost;
    innermost = launch;
    launch->callee = next_callee;
    next_callee = 0;
    show_running(launch);
    atomic_fetch_add(&launches, 1);
    if (atomic_load(&watch) != AWAKE) wake_watchdog();
}

static void finish(const Launch *launch) {
    if (!launch->owned) return;
    innermost = launch->outer; /* if there is one, its owner is in the callback */
    atomic_store_explicit(&running, (Body)0, memory_order_relaxed);
}

/* The thread that forked is the owner now. */
static void begin_anew_in_child(void) {
    forks++;
    if (!is_owner()) innermost = 0;
    atomic_store(&owner, pthread_self());
    atomic_store(&running, (Body)0);
    atomic_store(&question, false);
    atomic_store(&watch, ABSENT);
    pthread_mutex_init(&watchdog_mutex, 0);
    pthread_cond_init(&watchdog_wake, 0);
}

/* Set a function that the bodies of the next launch of the owner call. */
void pycu2c_pool_calls(const void *function) {
    if (ask && is_owner()) next_callee = function;
}

/* Set whether the callback may run on any stack. */
void pycu2c_pool_asked_anywhere(int may) { asked_anywhere = may; }

/* Set the owner, and the callback that says whether its launch should end. */
void pycu2c_pool_owner(pthread_t thread, int (*asked)(void)) {
    atomic_store(&owner, thread);
    ask = asked;
}
