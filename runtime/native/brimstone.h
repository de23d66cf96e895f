/* The native core, as C programs and Python see it.
 *
 * Python knows it as `runtime/declared.py`, which is made of this very file: without the lines that
 * start with `#` and the word BRIMSTONE_API, what is left must be plain C declarations.
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
 * share   `count` launches from launch `first` on are run at once, in any order, on all threads
 * alone   the same on the thread that asks for it; of both, `size` is 0 if they take little time
 * copy    `count` bytes go from the address in slot `first + 1` to the one in slot `first`
 * fill    `count` elements of `size` bytes, from the address in slot `first` on, become what stands
 *         in the slots behind that one
 * inside  `count` indices, from the address in slot `first` on, must name places; `size` is 0 if
 *         they are few. Behind that slot stand: how many bytes an index has, whether it has a sign,
 *         how many axes there are, and how long each is; indices belong to the axes in turn
 * store   `count` bytes go from slot `first + 1` on to the address in slot `first`
 *
 * The others say what is done after them: what stands next, or what stands `count` actions further,
 * or back if that is less than 0. Then `size` is how much work a round is, in bytes that are read
 * and written.
 *
 * loop    loop `first` begins; further, if it has no round
 * next    a round of loop `first` is over; back, if there is one more
 * unless  further, if the byte at the address in slot `first` is 0
 * jump    further, or back */
enum brimstone_kind {
    BRIMSTONE_SHARE,
    BRIMSTONE_ALONE,
    BRIMSTONE_COPY,
    BRIMSTONE_FILL,
    BRIMSTONE_INSIDE,
    BRIMSTONE_STORE,
    BRIMSTONE_LOOP,
    BRIMSTONE_NEXT,
    BRIMSTONE_UNLESS,
    BRIMSTONE_JUMP
};
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

/* A slot that follows the index of a loop: it is what is in slot `origin`, and so much more for
 * each step of the index. */
typedef struct brimstone_move {
    int64_t slot;
    int64_t origin;
    int64_t stride;
} brimstone_move;

/* A loop, whose index is kept in a slot: from `begin` on, each time so much more, until it would be
 * `end`. Its moves are made as each round begins. */
typedef struct brimstone_loop {
    int64_t slot;
    int64_t begin;
    int64_t end;
    int64_t step;
    int64_t first_move;
    int64_t move_count;
} brimstone_loop;

/* Actions, one after the other, and the slots that differ from call to call. A script has a number,
 * by which those who look at it afterwards know it. */
typedef struct brimstone_script {
    const brimstone_place *places;
    const brimstone_action *actions;
    const brimstone_launch *launches;
    const brimstone_loop *loops;
    const brimstone_move *moves;
    int64_t place_count;
    int64_t action_count;
    int64_t number;
} brimstone_script;

/* What could not be done: the script, and its action. Either an index named no place: which of the
 * indices, and its bits. Or `place` says that there was no memory for what a kernel needs while it
 * runs, that the process came to its end, or that Python had a part in it and raised an error. */
enum brimstone_reason {
    BRIMSTONE_NO_MEMORY = -1,
    BRIMSTONE_ENDED = -2,
    BRIMSTONE_RAISED = -3
};
typedef struct brimstone_failure {
    int64_t script;
    int64_t action;
    int64_t place;
    int64_t index;
} brimstone_failure;

/* Do the actions of a script from number `begin` on, on memory at these addresses; the slots are
 * the caller's own. The number of the action to go on with: after some 20 milliseconds there may
 * be more to do, so that the caller can look whether somebody wants an end. It is -1 where one
 * could not be done, and then `failure` is set. */
BRIMSTONE_API int64_t brimstone_run(brimstone_threads *threads, const brimstone_script *script,
                                    const uint64_t *addresses, uint64_t *slots, int64_t begin,
                                    brimstone_failure *failure);

/* What streams were asked for is not run any more; what they run ends at the next chunk, before
 * this returns. For the end of a process, while machine code is still there. */
BRIMSTONE_API void brimstone_stop(void);

/* Arrays, of which each is memory that several may hold, and may still be to be computed. They are
 * held together: who got them drops them, whatever becomes of them meanwhile. */
typedef struct brimstone_arrays brimstone_arrays;
BRIMSTONE_API void brimstone_leave(brimstone_arrays *arrays);

/* One array of so many bytes; NULL if there is no memory. */
BRIMSTONE_API brimstone_arrays *brimstone_empty(int64_t bytes);

/* One array in memory of somebody else, who is told by its ticket, which is not 0, when it is not
 * used any more. NULL if there is no memory to say so. */
BRIMSTONE_API brimstone_arrays *brimstone_borrow(void *address, int64_t bytes, int64_t ticket);

/* One array of so many bytes that could not be computed, as Python raised an error, of which it
 * knows by this number of a script; NULL if there is no memory. */
BRIMSTONE_API brimstone_arrays *brimstone_failed(int64_t bytes, int64_t script);

/* Write down tickets of memory that is not used any more, each once; how many. */
BRIMSTONE_API int64_t brimstone_returned(int64_t *tickets, int64_t most);

/* Where it says whether there are any: while they are, it is not NULL there. */
BRIMSTONE_API void *const *brimstone_are_returned(void);

/* Those from `begin` up to `end`; NULL if there is no memory. */
BRIMSTONE_API brimstone_arrays *brimstone_part(brimstone_arrays *arrays, int64_t begin,
                                               int64_t end);

/* All of so many pieces in order, which somebody else holds, too; NULL if there is no memory. */
BRIMSTONE_API brimstone_arrays *brimstone_join(brimstone_arrays *const *pieces, int64_t count);

/* Let their memory stay what it is, whoever they are given away to: somebody may read it. Whether
 * it is still theirs; while another thread is about to take it, and gives that up, it seems not to
 * be. */
BRIMSTONE_API int32_t brimstone_lend(brimstone_arrays *arrays);

/* Where the memory of an array begins. */
BRIMSTONE_API void *brimstone_address(brimstone_arrays *arrays, int64_t index);

/* Wait until all are computed, for some 20 milliseconds at most; what became of them. If they are
 * stopped, they never will be. */
enum brimstone_state { BRIMSTONE_PENDING, BRIMSTONE_READY, BRIMSTONE_FAILED, BRIMSTONE_STOPPED };
BRIMSTONE_API int32_t brimstone_wait(brimstone_arrays *arrays);

/* For one array that is alone: lend it, wait, and where it begins; NULL if it is not there any
 * more, not computed yet, or cannot be. */
BRIMSTONE_API void *brimstone_read(brimstone_arrays *arrays);

/* The same for those who may not wait: NULL if it is not computed yet, too. It waits for no
 * lock. */
BRIMSTONE_API void *brimstone_peek(brimstone_arrays *arrays);

/* Why the first array that could not be computed was not. */
BRIMSTONE_API brimstone_failure brimstone_why(brimstone_arrays *arrays);

/* A slot that holds a number, of so many bytes: the one that lies at this address. */
typedef struct brimstone_number {
    int64_t slot;
    int64_t address;
    int64_t bytes;
} brimstone_number;

/* An array that a program gives back: so many bytes from an offset on in that of this number; or
 * if `whole` is not 0 that one itself. */
typedef struct brimstone_result {
    int64_t address;
    int64_t offset;
    int64_t bytes;
    int64_t whole;
} brimstone_result;

/* What a program is. Address 0 is that of memory for as long as it runs, `arena` bytes; then come
 * those of `input_count` arrays that it is given, and those of the arrays that it makes. Of the
 * arrays that it is given, it writes to those that are `replaced`, by their numbers from 0: in
 * results they count as made, after the others. `work` says how much there is to do, in bytes that
 * are read and written. */
typedef struct brimstone_plan {
    brimstone_script script;
    const uint64_t *slots;
    const brimstone_number *numbers;
    const int64_t *made;
    const brimstone_result *results;
    const int64_t *replaced;
    int64_t slot_count;
    int64_t number_count;
    int64_t input_count;
    int64_t made_count;
    int64_t result_count;
    int64_t replaced_count;
    int64_t arena;
    int64_t work;
} brimstone_plan;

/* A program of a plan, which must live as long; NULL if there is no memory. */
typedef struct brimstone_program brimstone_program;
BRIMSTONE_API brimstone_program *brimstone_new_program(const brimstone_plan *plan);

/* Whether a program is no more, as none is that is NULL; if not, it is still to run: ask later. */
BRIMSTONE_API int32_t brimstone_end_program(brimstone_program *program);

/* What a thread asks for, in order; NULL if there is no memory. Who has no more to ask for lets go
 * of it, if it is not NULL: what he asked for is done as long as somebody holds a result. */
typedef struct brimstone_stream brimstone_stream;
BRIMSTONE_API brimstone_stream *brimstone_open_stream(brimstone_threads *threads);
BRIMSTONE_API void brimstone_close_stream(brimstone_stream *stream);

/* What became of what somebody asked for. */
enum brimstone_outcome {
    BRIMSTONE_DONE, BRIMSTONE_LATER, BRIMSTONE_OTHERWISE, BRIMSTONE_DONATED, BRIMSTONE_OUT_OF_MEMORY
};

/* Whether all arrays of so many pieces are computed, or are to be on this stream: none has failed,
 * as far as that is known by now, nor is one of another stream, which may take long. */
BRIMSTONE_API int32_t brimstone_are_sound(brimstone_stream *stream,
                                          brimstone_arrays *const *pieces, int64_t count);

/* Wait, for some 20 milliseconds at most, until little enough is still to do that a stream takes a
 * program, too; whether it does, or nobody runs anything any more. */
BRIMSTONE_API int32_t brimstone_admit(brimstone_stream *stream, brimstone_program *program);

/* Whether a call is put off: it puts down what is asked for, and Python's lock may be kept. */
BRIMSTONE_API int32_t brimstone_puts_off(brimstone_stream *stream, brimstone_program *program);

/* How what a program makes is dealt: so many to each, in turn. */
typedef struct brimstone_deal {
    const int64_t *counts;
    int64_t count;
} brimstone_deal;

/* Drop the first `gone_count` pieces; then let a stream run a program on arrays, those of the other
 * `piece_count` in order, after all it was given before. What it makes may be where results of an
 * earlier call were that are dropped so. Arrays that it replaces are made in their memory, if they
 * are `given_away` and nobody else can see them. What it makes, perhaps later, is dealt; and this
 * is BRIMSTONE_DONE. If not, the first pieces are gone all the same: BRIMSTONE_LATER while the
 * stream admits no program; BRIMSTONE_DONATED if an array is not lent, as `brimstone_lend` says it;
 * BRIMSTONE_OUT_OF_MEMORY, too, if they are not as many as the plan says. Where there is no memory
 * for what is dealt, arrays may be replaced by then. */
BRIMSTONE_API int32_t brimstone_call(brimstone_stream *stream, brimstone_program *program,
                                     brimstone_arrays *const *pieces, int64_t gone_count,
                                     int64_t piece_count, int32_t given_away, int32_t is_put_off,
                                     const brimstone_deal *deal, brimstone_arrays **dealt);

/* Wait until nothing is left to do, for some 20 milliseconds at most; whether nothing is, or
 * nobody runs anything any more. */
BRIMSTONE_API int32_t brimstone_idle(brimstone_stream *stream);

/* Memory of arrays, in bytes: used, the most that was used at once, kept for others, and the most
 * that is kept. And how often the system was asked for some. */
typedef struct brimstone_use {
    int64_t used;
    int64_t most_used;
    int64_t kept;
    int64_t kept_at_most;
    int64_t asked;
} brimstone_use;
BRIMSTONE_API brimstone_use brimstone_memory(void);

/* What the system says, in files below the folder `root`, that this process may still have: so many
 * bytes are left of the total, and others could be swapped out. INT64_MAX where it does not say. */
typedef struct brimstone_room {
    int64_t left;
    int64_t total;
    int64_t swap;
} brimstone_room;
BRIMSTONE_API brimstone_room brimstone_look(const char *root);

/* From now on write down what is done when; or no longer. */
BRIMSTONE_API void brimstone_record(int32_t wanted);

/* Something that was done, between two times of the clock, on a thread as Python numbers it: an
 * action; or if that is -1, a call, from when it was asked for, and how many bytes arrays used when
 * it was over. */
typedef struct brimstone_event {
    int64_t begin;
    int64_t end;
    int64_t script;
    int64_t action;
    int64_t thread;
    int64_t used;
} brimstone_event;

/* Hand over what was written down, each event once and in no order; how many they are. */
BRIMSTONE_API int64_t brimstone_events(brimstone_event *events, int64_t most);

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

/* A line of a tape: a number, made of those of two lines before it; or what holds of these.
 *
 * given     the one of number `left`, of those that are given
 * constant  `left` itself
 * divide    rounded down, by more than 0
 * pack      how many bytes `right` arrays take together, from number `left` on of those that the
 *           tape has; where each of them begins is the number of one of the next lines */
enum brimstone_sign {
    BRIMSTONE_GIVEN,
    BRIMSTONE_CONSTANT,
    BRIMSTONE_ADD,
    BRIMSTONE_SUBTRACT,
    BRIMSTONE_MULTIPLY,
    BRIMSTONE_DIVIDE,
    BRIMSTONE_LEAST,
    BRIMSTONE_GREATEST,
    BRIMSTONE_LESS,
    BRIMSTONE_AT_MOST,
    BRIMSTONE_EQUAL,
    BRIMSTONE_DIFFER,
    BRIMSTONE_PACK
};
typedef struct brimstone_line {
    int64_t kind;
    int64_t left;
    int64_t right;
} brimstone_line;

/* Arithmetic that was written down for some sizes; and a record of words of eight bytes that is
 * made of its numbers, by the lines of each. Those words that are `pointers` are made the addresses
 * of the words that they are the numbers of. The `bytes` of arrays are lines, too. */
typedef struct brimstone_tape {
    const brimstone_line *lines;
    const brimstone_interval *intervals;
    const int64_t *words;
    const int64_t *pointers;
    int64_t line_count;
    int64_t word_count;
    int64_t pointer_count;
} brimstone_tape;

/* Write the words that it makes of other sizes: BRIMSTONE_DONE; BRIMSTONE_OTHERWISE if something
 * does not hold of them, or a number is too large; or BRIMSTONE_OUT_OF_MEMORY. */
BRIMSTONE_API int32_t brimstone_replay(const brimstone_tape *tape, const int64_t *given,
                                       int64_t *words);

/* For Python, whose lock the caller has: a new tuple of two types, of what holds arrays and of what
 * calls programs. Of each object the first `head` bytes are Python's own. */
BRIMSTONE_API void *brimstone_python(int64_t head);

#endif
