/* Stacks for the threads of blocks, and switches between them. The text of fibers.c follows. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#endif

enum {
    STACK_BYTES = 640 << 10, /* local arrays of a GPU thread have 512 KB */
    STACKS_PER_CHUNK = 32,
    MAX_KEPT_CHUNKS = 64, /* by an OS thread, after a launch whose blocks wait for each other */
    /* The tops of stacks are shifted by multiples of this number of bytes, modulo the range: else all
     * stacks map to the same cache sets. */
    STAGGER_BYTES = 704,
    STAGGER_RANGE = 16 << 10
};

/* Functions on the stack of a suspended thread: fewer frames need fewer cache lines when it resumes. */
#define ALWAYS_INLINE __attribute__((always_inline))

/* ---- from one stack to another ---- */

#if defined(PYCU2C_NO_SWITCH) /* for tests: as on other processors */
#include <ucontext.h>
#define HAS_ASSEMBLY_SWITCH 0
#elif defined(__x86_64__)
void pycu2c_switch(void **from, void *const *to) __asm__("pycu2c_switch");
__asm__(".text\n"
        ".p2align 4\n"
        "pycu2c_switch:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq (%rsi), %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n");
enum { SAVED_WORDS = 8, ENTRY_WORD = 6 };
#define HAS_ASSEMBLY_SWITCH 1
#elif defined(__aarch64__)
void pycu2c_switch(void **from, void *const *to) __asm__("pycu2c_switch");
__asm__(".text\n"
        ".p2align 4\n"
        "pycu2c_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n"
        "  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n"
        "  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  ldr x9, [x1]\n"
        "  mov sp, x9\n"
        "  ldp x19, x20, [sp, #0]\n"
        "  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n"
        "  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n");
enum { SAVED_WORDS = 20, ENTRY_WORD = 11 };
#define HAS_ASSEMBLY_SWITCH 1
#else
#include <ucontext.h>
#define HAS_ASSEMBLY_SWITCH 0
#endif

typedef struct Stack {
    struct Stack *next; /* which is free, too */
    char *low, *top;
} Stack;

typedef struct {
#if HAS_ASSEMBLY_SWITCH
    void *stack_pointer; /* the registers are saved on the stack */
#else
    ucontext_t context;
#endif
} Context;

static void fiber_main(void);

static void prepare(Context *context, const Stack *stack) {
#if HAS_ASSEMBLY_SWITCH
    void **words = (void **)(void *)stack->top - SAVED_WORDS;
    memset(words, 0, SAVED_WORDS * sizeof *words);
    words[ENTRY_WORD] = (void *)(uintptr_t)fiber_main;
    context->stack_pointer = words;
#else
    getcontext(&context->context);
    context->context.uc_stack.ss_sp = stack->low;
    context->context.uc_stack.ss_size = (size_t)(stack->top - stack->low);
    context->context.uc_link = 0;
    makecontext(&context->context, fiber_main, 0);
#endif
}

/* Prefetch the saved registers: the stacks of a block exceed the L1 cache. */
ALWAYS_INLINE static inline void prefetch_context(const Context *context) {
#if HAS_ASSEMBLY_SWITCH
    const char *stack_pointer = context->stack_pointer;
    for (int line = 0; line < 4; line++) __builtin_prefetch(stack_pointer + 64 * line);
#else
    (void)context;
#endif
}

/* `to` may be `from`, of a thread that yields when no other is ready. */
static void switch_context(Context *from, Context *to) {
#if HAS_ASSEMBLY_SWITCH
    pycu2c_switch(&from->stack_pointer, &to->stack_pointer);
#else
    swapcontext(&from->context, &to->context);
#endif
}

/* ---- stacks of an OS thread ---- */

static _Thread_local Stack *free_stacks;
static _Thread_local int stagger_offset; /* of the next stack */
static pthread_key_t key_of_stacks;

typedef struct Chunk {
    struct Chunk *next;
    char *memory;
    Stack stacks[STACKS_PER_CHUNK];
} Chunk;

static void unmap_stacks(void *chunks) {
    for (Chunk *c = chunks, *next; c; c = next) {
        next = c->next;
        munmap(c->memory, (size_t)STACK_BYTES * STACKS_PER_CHUNK);
        free(c);
    }
}

static void make_key(void) { pthread_key_create(&key_of_stacks, unmap_stacks); }

static bool allocate_stacks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    Chunk *c = malloc(sizeof *c);
    if (!c) return false;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    c->memory = mmap(0, (size_t)STACK_BYTES * STACKS_PER_CHUNK, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (c->memory == MAP_FAILED) return free(c), false;
    c->next = pthread_getspecific(key_of_stacks);
    for (int i = STACKS_PER_CHUNK - 1; i >= 0; i--) {
        Stack *s = &c->stacks[i];
        s->low = c->memory + (size_t)i * STACK_BYTES;
        s->top = s->low + STACK_BYTES - (stagger_offset & ~15);
        stagger_offset = (stagger_offset + STAGGER_BYTES) % STAGGER_RANGE;
        mprotect(s->low, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE); /* an access beyond it is a fault */
        s->next = free_stacks;
        free_stacks = s;
    }
    pthread_setspecific(key_of_stacks, c);
    return true;
}

static Stack *acquire_stack(void) {
    if (!free_stacks && !allocate_stacks()) return 0;
    Stack *s = free_stacks;
    free_stacks = s->next;
    return s;
}

static void release_stack(Stack *s) {
    s->next = free_stacks;
    free_stacks = s;
}

/* Unmap the stacks of this OS thread, which are all free, if they are many. Each stack takes two of the
 * mappings of the process, which Linux limits to 65,530. */
static void trim_stacks(void) {
    if (!free_stacks) return;
    Chunk *chunks = pthread_getspecific(key_of_stacks);
    int count = 0;
    for (const Chunk *c = chunks; c; c = c->next) count++;
    if (count <= MAX_KEPT_CHUNKS) return;
    free_stacks = 0;
    pthread_setspecific(key_of_stacks, 0);
    unmap_stacks(chunks);
}
