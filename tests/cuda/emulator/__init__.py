"""The code that numba makes for a GPU, run on the CPU: of each kernel the PTX, as C, by thread.

A kernel goes through numba-cuda and NVVM as for a device, its PTX is translated to C, gcc compiles
that, and the threads run one after the other. Every access to memory is checked: that it is
aligned, and lies in an argument of the kernel, in a table or in the thread's own stack. PTX that
no kernel of ours needed so far is refused by name, never skipped.

    python -m tests.cuda.emulator [GAME ...]    # play, compare, and count instructions by warp

What it cannot see: races, as no two threads run at once; barriers and shared memory, which it
refuses; an access that leaves one argument of the kernel and lands in another; and what ptxas makes
of the PTX (registers, spills, speed).
"""
