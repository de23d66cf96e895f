/* The native core, as C programs and Python see it.
 *
 * Python reads this very file: `runtime/native.py` drops the lines that start with `#` and the word
 * BRIMSTONE_API, and what is left must be plain C declarations.
 */
#ifndef BRIMSTONE_H
#define BRIMSTONE_H

#include <stdint.h>

#ifdef __cplusplus
#define BRIMSTONE_API extern "C" __attribute__((visibility("default")))
#else
#define BRIMSTONE_API extern
#endif

/* The version the library was built as, such as "0.1.0". The text lives as long as the process. */
BRIMSTONE_API const char *brimstone_version(void);

/* Nanoseconds on a clock that never goes back. Only differences have a meaning. */
BRIMSTONE_API int64_t brimstone_clock(void);

/* Threads that share work. They are never destroyed: a process ends without waiting for them. */
typedef struct brimstone_threads brimstone_threads;

/* So many threads, of which the caller of `brimstone_run` is one; NULL if there is no memory. */
BRIMSTONE_API brimstone_threads *brimstone_new_threads(int32_t count);

/* The machine code of a kernel. It runs the programs from range[2 * axis] to range[2 * axis + 1]
 * along each of three axes; `grid` says how many there are in all. */
typedef void (*brimstone_kernel)(const uint64_t *slots, const int64_t *grid, const int64_t *range);

/* One launch of a kernel, in as many chunks of programs along an axis. `first` is the number of its
 * first chunk among those of all that are launched at once; `slot` is that of its first slot.
 *
 * A kernel that needs memory while it runs has `scratch_count` slots more than the script gives it:
 * where the parts of its memory begin. Each chunk has `room` bytes of it, a multiple of 8. */
typedef struct brimstone_launch {
    brimstone_kernel code;
    const int64_t *scratch_offsets;
    int64_t scratch_count;
    int64_t room;
    int64_t slot;
    int64_t slot_count;
    int64_t grid[3];
    int64_t axis;
    int64_t chunks;
    int64_t first;
} brimstone_launch;

/* What is done next, by its kind. The numbers are of launches, of slots, of bytes and of elements.
 *
 * share  `count` launches from launch `first` on are run at once, in any order, on all threads
 * alone  the same on the thread that asks for it; of both, `size` is 0 if they take little time
 * copy   `count` bytes go from the address in slot `first + 1` to the one in slot `first`
 * fill   `count` elements of `size` bytes, from the address in slot `first` on, become what stands
 *        in the slots behind that one */
enum brimstone_kind { BRIMSTONE_SHARE, BRIMSTONE_ALONE, BRIMSTONE_COPY, BRIMSTONE_FILL };
typedef struct brimstone_action {
    int64_t kind;
    int64_t first;
    int64_t count;
    int64_t size;
} brimstone_action;

/* A slot that holds an address: of that number, and so many bytes behind it. */
typedef struct brimstone_place {
    int64_t slot;
    int64_t address;
    int64_t offset;
} brimstone_place;

/* Actions, one after the other, and the slots that differ from call to call. */
typedef struct brimstone_script {
    const brimstone_place *places;
    const brimstone_action *actions;
    const brimstone_launch *launches;
    int64_t place_count;
    int64_t action_count;
} brimstone_script;

/* Do the actions of a script from number `begin` on, on memory at these addresses; the slots are the
 * caller's own. The number of the action to go on with: after some ten milliseconds there may be more
 * to do, so that the caller can look whether somebody wants an end. Where there was no memory for
 * what a kernel needs while it runs, it is -1 less the number of that action. */
BRIMSTONE_API int64_t brimstone_run(brimstone_threads *threads, const brimstone_script *script,
                                    const uint64_t *addresses, uint64_t *slots, int64_t begin);

/* An array that is alive from position `begin` to position `end` of a script, both included. */
typedef struct brimstone_interval {
    int64_t begin;
    int64_t end;
    int64_t bytes;
    int64_t offset;
} brimstone_interval;

/* Set all offsets, multiples of 64, so that no two arrays share a byte while both are alive. How
 * many bytes all of them take together; -1 if they are too many, or too many to find out. */
BRIMSTONE_API int64_t brimstone_pack(brimstone_interval *intervals, int64_t count);

#endif
