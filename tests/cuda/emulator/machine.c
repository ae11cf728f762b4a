/* Runs the threads of a GPU kernel one after another. Includes the kernel that `translate.py` writes. */

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

enum { LOCAL, GLOBAL, CONST };
enum { NO_FAULT, MISALIGNED, OUTSIDE };
enum { WARP = 32 };

struct range {
    const uint8_t *begin, *end;
};

/* The first fault, with its statement and thread. */
struct fault {
    uint64_t kind, address, size, statement, thread;
};

#define RANGE(memory) {memory.bytes, memory.bytes + sizeof memory.bytes}
#define GARBAGE 0xABABABABABABABABULL

/* %tid.x, %ctaid.x, %ntid.x and %nctaid.x of PTX, and the words passed to the kernel. */
static uint32_t tid, ctaid, ntid, nctaid;
static const uint64_t *parameters;

static const struct range *spaces[3];
static uint32_t ranges_of[3];
static struct fault fault;
static jmp_buf after_fault;
static uint32_t *count;

static __attribute__((noreturn, noinline)) void fail(
    uint64_t kind, uint64_t address, uint64_t size, uint64_t statement)
{
    fault = (struct fault){kind, address, size, statement, (uint64_t)ctaid * ntid + tid};
    longjmp(after_fault, 1);
}

/* An address as a pointer, if `size` bytes there are aligned and entirely within one range. */
static inline void *at(int space, uint64_t address, uint64_t size, uint64_t statement)
{
    if (address % size)
        fail(MISALIGNED, address, size, statement);
    for (uint32_t i = 0; i < ranges_of[space]; i++) {
        uint64_t begin = (uintptr_t)spaces[space][i].begin, end = (uintptr_t)spaces[space][i].end;
        if (address >= begin && address < end && end - address >= size)
            return (void *)(uintptr_t)address;
    }
    fail(OUTSIDE, address, size, statement);
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t reversed(uint64_t bits, uint32_t width)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < width; i++)
        result |= ((bits >> i) & 1) << (width - 1 - i);
    return result;
}

/* Of position and length the instructions on bit fields see the lowest eight bits. */
static inline uint64_t field(uint64_t length)
{
    return (length & 255) >= 64 ? ~0ULL : (1ULL << (length & 255)) - 1;
}

/* `into`, where `length` bits from `position` on are the lowest ones of `bits`. */
static inline uint64_t inserted(
    uint64_t bits, uint64_t into, uint64_t position, uint64_t length, uint32_t width)
{
    position &= 255;
    if (position >= width)
        return into;
    uint64_t mask = field(length) << position;
    return (into & ~mask) | ((bits << position) & mask);
}

/* `length` bits of `bits` from `position` on. */
static inline uint64_t extracted(uint64_t bits, uint64_t position, uint64_t length, uint32_t width)
{
    position &= 255;
    return position >= width ? 0 : (bits >> position) & field(length);
}

#include <kernel.c>

/* How often the blocks of the kernel ran: in this thread, and at most in a thread of this warp. */
static uint32_t by_thread[BLOCKS], most[BLOCKS];

static void run_warp(uint32_t first, uint64_t *lanes, uint64_t *warps)
{
    memset(most, 0, sizeof most);
    for (tid = first; tid < first + WARP && tid < ntid; tid++) {
        memset(by_thread, 0, sizeof by_thread);
        memset((void *)(uintptr_t)stack.begin, 0xAB, stack.end - stack.begin);
        thread();
        for (uint32_t i = 0; i < BLOCKS; i++) {
            lanes[i] += by_thread[i];
            if (by_thread[i] > most[i])
                most[i] = by_thread[i];
        }
    }
    for (uint32_t i = 0; i < BLOCKS; i++)
        warps[i] += most[i];
}

/* Runs all threads, or all up to a fault, which is returned in `found`.

   Adds to `lanes` how often threads ran each block of the kernel, and to `warps` how often warps
   did: as often as that one of its threads which did so most often. */
void run(
    uint32_t grid, uint32_t block, const uint64_t *given, const struct range *arrays, uint32_t many,
    uint64_t *lanes, uint64_t *warps, struct fault *found)
{
    nctaid = grid, ntid = block, parameters = given, count = by_thread;
    spaces[LOCAL] = &stack, spaces[GLOBAL] = arrays, spaces[CONST] = tables;
    ranges_of[LOCAL] = 1, ranges_of[GLOBAL] = many, ranges_of[CONST] = TABLES;
    fault.kind = NO_FAULT;
    if (!setjmp(after_fault))
        for (ctaid = 0; ctaid < grid; ctaid++)
            for (uint32_t first = 0; first < block; first += WARP)
                run_warp(first, lanes, warps);
    *found = fault;
}
