"""What a kernel is compiled to: code for the kernels that call it, and machine code for Python.

Most kernels are called by kernels only, which inline them. Numba would also wrap each of them for
calls from Python and make machine code of it, which nobody would run. Here this is done when Python
first calls a kernel.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.runtime import rtsys
from numba.core.untyped_passes import WithLifting


class InlinedCode(JITCodeLibrary):  # type: ignore[misc]
    """A kernel with its callees, for callers to inline; optimised when the first of them does."""

    optimised = False

    def load(self, bitcode: bytes, optimised: bool) -> InlinedCode:
        """Take over stored code; returns itself."""
        self._final_module = llvm.parse_bitcode(bitcode)
        self._finalized, self.optimised = True, optimised
        return self

    @property
    def calls_callers(self) -> bool:
        """Whether it calls kernels that call it: they find each other in machine code only."""
        names = (variable.name for variable in self._final_module.global_variables)
        return any(name.startswith(RuntimeLinker.PREFIX) for name in names)

    def optimise(self) -> None:
        """Optimise it, once."""
        if not self.optimised:
            super()._optimize_final_module()
            self.optimised = True

    def _optimize_final_module(self) -> None:
        """Not yet: with a wrapper for Python it is optimised there."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        self.optimise()
        return super()._get_module_for_linking()


class MachineCode(JITCodeLibrary):  # type: ignore[misc]
    """A kernel with its callees, and a wrapper for Python."""

    def __init__(self, inlined: InlinedCode) -> None:
        super().__init__(inlined.codegen, inlined.name)
        self.inlined = inlined
        self.enable_object_caching()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function of this code."""
        self._ensure_finalized()
        address: int = self.codegen._engine.get_function_address(name)
        return address

    def _get_module_for_linking(self) -> Any:
        return self.inlined._get_module_for_linking()


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class NoMachineCode(AnalysisPass):  # type: ignore[misc]
    """Leaves machine code out; after `with objmode` was lifted out, which needs its own."""

    _name = "no_machine_code"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Change the flags; nothing else changes."""
        state.flags.no_cpython_wrapper = state.flags.no_compile = True
        return False


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function to code for callers, which takes the place of an entry point."""

    def define_pipelines(self) -> list[Any]:
        """Those of numba, without machine code."""
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(NoMachineCode, WithLifting)
            pipeline.finalize()
        return pipelines

    def _compile_core(self) -> CompileResult:
        state, context = self.state, self.state.targetctx
        code = state.library = InlinedCode(context.codegen(), state.func_id.func_qualname)
        result = super()._compile_core()
        if result.library is not code:  # that of what is left without `with objmode`
            return result
        code.finalize()
        context.insert_user_function(code, result.fndesc, [code])
        # Once callees are inlined and loaded, nothing else leads to what they print.
        environments = result._find_referenced_environments()
        return result._replace(entry_point=code, referenced_envs=environments)


def for_python(context: Any, result: CompileResult) -> CompileResult:
    """A kernel with machine code, from its code for callers."""
    context.refresh()  # nothing may have been compiled yet, if the code was loaded
    rtsys.initialize(context)
    context = context.subtarget(enable_nrt=True)
    machine = MachineCode(result.library)
    machine._final_module.link_in(result.library._final_module, preserve=True)
    with context.push_code_library(machine):
        context.create_cpython_wrapper(
            machine, result.fndesc, result.environment, result.call_helper, release_gil=True
        )
    machine.add_linking_library(rtsys.library)
    machine.finalize()
    return _started(context, result._replace(library=machine))


def with_machine_code(context: Any, result: CompileResult, stored: bytes) -> CompileResult:
    """A kernel with machine code that was stored."""
    machine = MachineCode(result.library)
    machine._set_compiled_object(stored)
    machine._finalize_final_module()
    return _started(context, result._replace(library=machine))


def _started(context: Any, result: CompileResult) -> CompileResult:
    """A kernel whose entry point is a function that Python can call."""
    entry = context.get_executable(result.library, result.fndesc, result.environment)
    for environment in result.referenced_envs:
        context.codegen().set_env(environment.env_name, environment)
    return result._replace(entry_point=entry)
