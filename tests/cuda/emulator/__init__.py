"""Runs the code that numba generates for a GPU on the CPU.

numba-cuda and NVVM compile a kernel as for a device, its PTX is translated to C and compiled with
gcc, and the threads run one after another. Every memory access is checked: it must be aligned and
lie within an argument of the kernel, a table or the stack of the thread. PTX that none of our
kernels has needed so far is refused by name, never skipped.

    python -m tests.cuda.emulator [GAME ...]    # play, compare, and count instructions per warp

The emulator cannot detect races, because no two threads run at once, or accesses that leave one
argument and end up in another. It refuses barriers and shared memory, and does not know what ptxas
makes of the PTX (registers, spills, speed).
"""
