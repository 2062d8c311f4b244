/* How files are, for many of them at once. It stands after pool.c, and knows nothing of it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#if defined(__APPLE__)
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#endif

enum { LONGEST_PATH = 4096, LONGEST_STATE = 48 };

static int64_t nanoseconds(struct timespec t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec; }

/* For each of the names, which end in '\n', of files in a folder: when it was changed and its size,
 * or nothing if it is not there or was changed after a time. In a line each; how many bytes that is. */
int64_t pycu2c_look(const char *folder, const char *names, int64_t latest, char *states) {
    char path[LONGEST_PATH], *end = states;
    for (const char *next; (next = strchr(names, '\n')); names = next + 1) {
        struct stat found;
        int length = (int)(next - names);
        int written = snprintf(path, sizeof path, "%s/%.*s", folder, length, names);
        bool is_there = written > 0 && written < LONGEST_PATH && stat(path, &found) == 0;
        if (is_there && nanoseconds(found.st_mtim) <= latest && nanoseconds(found.st_ctim) <= latest) {
            long long time = nanoseconds(found.st_mtim), size = found.st_size;
            end += snprintf(end, LONGEST_STATE, "%lld %lld", time, size);
        }
        *end++ = '\n';
    }
    return end - states;
}
