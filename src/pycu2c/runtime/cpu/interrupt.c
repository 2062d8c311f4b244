/* How a launch can end before its kernel does. Part of the pool; knows nothing of Python.
 *
 * One thread, the owner, may be asked during its launches whether they should go on. (It is Python's
 * main thread: it lets Python handle signals then, and Ctrl-C is an exception.) The watch, a thread
 * that looks ten times a second, has the owner asked when a launch takes long: between two pieces,
 * while it waits for the workers, or in the middle of a body, where a signal's handler asks. If the
 * answer is to end, the handler does not go back to the body: it jumps to where the thread had begun
 * to work, and the workers are called out of their bodies in the same way.
 *
 * A body may be stopped between any two of its instructions: it holds no lock and no memory. What it
 * calls may hold some, as malloc does when a variable of the thread is first touched. So only a
 * thread that is just then in the text of the kernel itself is stopped; others are tried again.
 *
 * What the owner is asked may launch kernels, too. They run in threads of their own: the owner's
 * has variables of the kernel that it was called out of.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1") /* a third of the time to compile is saved, and 2 ns of a launch lost */
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

#ifndef SI_TKILL /* Linux's word for what pthread_kill sends */
#define SI_TKILL SI_USER
#endif
#define NUDGE SIGURG /* it is ignored where nobody listens, and may come for no reason */

enum {
    TICK_NS = 100000000,     /* how often the watch looks */
    QUIET_TICKS = 5,         /* after so many without a launch it sleeps until there is one */
    PATIENCE_NS = 1000000,   /* how long a launch that is short may take to see the question */
    PAUSE_NS = 50000,        /* how soon a thread is tried again that could not be stopped, */
    EAGER_TRIES = 5000,      /* so often; then more rarely */
    LONG_PAUSE_NS = 2000000,
    WATCH_STACK_BYTES = 256 << 10
};

/* Where a thread runs bodies. */
typedef struct {
    sigjmp_buf start;   /* where it goes on when it has been called out of a body */
    atomic_bool inside; /* of a body */
} Seat;

typedef struct Launch {
    Seat seat;
    Body body;
    const void *callee; /* a function that the body calls, of a library that may be left as well */
    const void *args;
    int64_t count, row; /* how many bodies; the pool's: how many walk on where one has ended */
    bool begins;       /* whether each piece begins and ends with work of its own */
    bool owned;        /* by the thread that can be asked */
    atomic_bool ended; /* bodies that run are left, and no more are begun */
    int forks;         /* how often the process had forked when it began */
    struct Launch *outer;
} Launch;

static _Atomic(pthread_t) owner;
static int (*ask)(void) = 0; /* whether the owner's launch should end; 0: there is no owner */
static int forks = 0;

static Launch *innermost = 0;         /* of the owner's launches; only the owner reads this */
static _Atomic(Body) running;         /* its body, unless the owner is just being asked, */
static _Atomic(const void *) running_callee; /* and what that calls */
static const void *next_callee = 0;   /* of the owner's next launch */
static _Atomic uint64_t launches = 0; /* of the owner, so far */
static atomic_bool question = false;  /* the owner should be asked */

enum { ABSENT, AWAKE, ASLEEP };
static atomic_int watch = ABSENT;
static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_wake = PTHREAD_COND_INITIALIZER;

static void wake_caller(void); /* the pool's: if it sleeps, it is to look about */
static Launch *job_of_worker(Seat **seat); /* the pool's: what this thread works on, if it is one */

static void nap(int64_t ns) {
    struct timespec pause = {0, (long)ns};
    nanosleep(&pause, 0);
}

static void nap_after(int tries) { nap(tries < EAGER_TRIES ? PAUSE_NS : LONG_PAUSE_NS); }

static bool is_owner(void) { return pthread_equal(pthread_self(), atomic_load(&owner)); }

/* ---- the text of the kernel that runs ---- */

enum { PAGE = 4096, FEW_BITS = 24 };

/* Of the body and of what it calls: the first page, and in FEW_BITS how many there are. */
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

/* Whether the interrupted thread was executing that text. Where it cannot be told, launches end only
 * between two pieces. */
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

/* ---- the owner is asked ---- */

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

/* In the owner, outside of bodies. What is asked may launch, and may fork. */
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

/* Whether the owner may be asked on a stack that is not its own, as threads of fibers.c have them.
 * Python from 3.14 on ends the process there, which looks to it like a stack that has run over. */
static bool asked_anywhere = true;

enum { OWN_STACK = 64 << 20 };

static bool may_ask_here(const Launch *launch) {
    char here;
    uintptr_t above = (uintptr_t)launch - (uintptr_t)&here; /* the launch is further up */
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

/* Makes sure that nudges are heard. Whoever listened before still hears what is not from here. */
static void listen_to_nudges(void) {
    struct sigaction now, ours = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    sigaction(NUDGE, 0, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_nudge) return;
    bool none = now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN;
    atomic_store(&listener_before, none ? (Handler)0 : now.sa_sigaction); /* a handler of less arguments, too */
    ours.sa_sigaction = on_nudge;
    sigemptyset(&ours.sa_mask);
    sigaction(NUDGE, &ours, 0);
}

/* ---- a launch by what the owner is asked ---- */

/* It runs in a thread of its own, blocks one after the other. */
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
    atomic_store(&g->done, true); /* the last that it does: it is the owner's again */
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
            listen_to_nudges();
            pthread_kill(atomic_load(&guest.thread), NUDGE);
        }
        nap_after(tries);
    }
    atomic_store(&guests, guest.outer);
    return started;
}

/* ---- the watch ---- */

static void have_owner_asked(Body body) {
    find_texts(body, atomic_load(&running_callee));
    listen_to_nudges();
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
    pthread_mutex_lock(&watch_mutex);
    atomic_store(&watch, ASLEEP); /* before the last look: the owner counts, then looks */
    while (atomic_load(&launches) == number) pthread_cond_wait(&watch_wake, &watch_mutex);
    atomic_store(&watch, AWAKE);
    pthread_mutex_unlock(&watch_mutex);
}

static void *watch_main(void *nothing) {
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

/* A thread that takes no signals but nudges and those that its own mistakes raise. */
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

static void wake_watch(void) {
    if (atomic_load(&watch) == ABSENT) {
        atomic_store(&watch, AWAKE); /* also if it cannot be: then nobody is asked */
        start_thread(watch_main, 0, WATCH_STACK_BYTES);
        return;
    }
    pthread_mutex_lock(&watch_mutex);
    atomic_store(&watch, AWAKE);
    pthread_cond_signal(&watch_wake);
    pthread_mutex_unlock(&watch_mutex);
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
    if (atomic_load(&watch) != AWAKE) wake_watch();
}

static void finish(const Launch *launch) {
    if (!launch->owned) return;
    innermost = launch->outer; /* if there is one, its owner is just being asked */
    atomic_store_explicit(&running, (Body)0, memory_order_relaxed);
}

/* The thread that forked lives on, and is the owner now. */
static void begin_anew_in_child(void) {
    forks++;
    if (!is_owner()) innermost = 0;
    atomic_store(&owner, pthread_self());
    atomic_store(&running, (Body)0);
    atomic_store(&question, false);
    atomic_store(&watch, ABSENT);
    pthread_mutex_init(&watch_mutex, 0);
    pthread_cond_init(&watch_wake, 0);
}

/* A function that the bodies of the next launch call, if it is the owner's. */
void pycu2c_pool_calls(const void *function) {
    if (ask && is_owner()) next_callee = function;
}

/* Whether the owner may be asked on any stack. */
void pycu2c_pool_asked_anywhere(int may) { asked_anywhere = may; }

/* Names the owner, and what it is asked: whether its launch should end. */
void pycu2c_pool_owner(pthread_t thread, int (*asked)(void)) {
    atomic_store(&owner, thread);
    ask = asked;
}
