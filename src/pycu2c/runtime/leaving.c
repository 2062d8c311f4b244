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
 */
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

#define NUDGE SIGURG /* it is ignored where nobody listens, and may come for no reason */

enum {
    TICK_NS = 100000000,     /* how often the watch looks */
    QUIET_TICKS = 5,         /* after so many without a launch it sleeps until there is one */
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
    const void *args;
    int64_t count;
    bool owned;        /* by the thread that can be asked */
    atomic_bool ended; /* bodies that run are left, and no more are begun */
    int forks;         /* how often the process had forked when it began */
    struct Launch *outer;
} Launch;

static _Atomic(pthread_t) owner;
static int (*ask)(void) = 0; /* whether the owner's launch should end; 0: there is no owner */
static int forks = 0;

static Launch *innermost = 0;         /* of the owner's launches; only the owner reads this */
static _Atomic(Body) running;         /* its body, unless the owner is just being asked */
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
static _Atomic uint64_t text = 0; /* its first page, and in FEW_BITS how many there are */

#if defined(__linux__)
static int note_text(struct dl_phdr_info *library, size_t size, void *body) {
    (void)size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uint64_t first = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        uint64_t last = first + library->dlpi_phdr[i].p_memsz;
        if (library->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if ((uint64_t)(uintptr_t)body < first || (uint64_t)(uintptr_t)body >= last) continue;
        uint64_t pages = (last + PAGE - 1) / PAGE - first / PAGE;
        atomic_store(&text, first / PAGE << FEW_BITS | pages);
        return 1;
    }
    return 0;
}

static void find_text(Body body) { dl_iterate_phdr(note_text, (void *)(uintptr_t)body); }
#else
static void find_text(Body body) { (void)body; }
#endif

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
    uint64_t known = atomic_load(&text), few = (UINT64_C(1) << FEW_BITS) - 1;
    return at / PAGE - (known >> FEW_BITS) < (known & few);
}

/* ---- the owner is asked ---- */

static void run_body(Launch *launch, Seat *seat, int64_t first, int64_t last) {
    atomic_store_explicit(&seat->inside, true, memory_order_relaxed);
    launch->body(launch->args, first, last);
    atomic_store_explicit(&seat->inside, false, memory_order_relaxed);
}

static bool was_forked(const Launch *launch) { return launch->forks != forks; }

/* In the owner, outside of bodies. What is asked may launch, and may fork. */
static void answer(Launch *launch) {
    if (!atomic_exchange(&question, false)) return;
    atomic_store(&running, (Body)0);
    if (ask() || was_forked(launch)) atomic_store(&launch->ended, true);
    atomic_store(&running, launch->body);
}

static void answer_if_asked(Launch *launch) {
    if (launch->owned && atomic_load_explicit(&question, memory_order_relaxed)) answer(launch);
}

static bool has_ended(const Launch *launch) {
    return atomic_load_explicit(&launch->ended, memory_order_relaxed);
}

typedef void (*Handler)(int, siginfo_t *, void *);
static _Atomic(Handler) listener_before;

static void on_nudge(int number, siginfo_t *info, void *context) {
    int error = errno;
    Seat *seat = 0;
    Launch *launch = is_owner() ? innermost : job_of_worker(&seat);
    if (launch && !seat) seat = &launch->seat;
    if (seat && atomic_load(&seat->inside) && was_in_text(context)) {
        atomic_store(&seat->inside, false);
        if (seat == &launch->seat) answer(launch);
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

/* ---- the watch ---- */

static void have_owner_asked(uint64_t number) {
    Body body = atomic_load(&running);
    if (!body) return;
    find_text(body);
    listen_to_nudges();
    atomic_store(&question, true);
    for (int tries = 1; atomic_load(&question); tries++) {
        if (!atomic_load(&running) || atomic_load(&launches) != number) break;
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
        if (number != seen) {
            quiet = 0;
        } else if (atomic_load(&running)) {
            have_owner_asked(number);
        } else if (++quiet == QUIET_TICKS) {
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
    launch->args = args;
    launch->count = count;
    launch->forks = forks;
    launch->owned = ask && is_owner();
    if (!launch->owned) return;
    launch->outer = innermost;
    innermost = launch;
    atomic_store_explicit(&running, body, memory_order_relaxed);
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

/* Names the owner, and what it is asked: whether its launch should end. */
void pycu2c_pool_owner(pthread_t thread, int (*asked)(void)) {
    atomic_store(&owner, thread);
    ask = asked;
}
