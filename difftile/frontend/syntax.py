"""Python that the kernel language does not have: what it is called, and what to write instead."""

from __future__ import annotations

import ast

REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.ListComp: ("list comprehension", "write an explicit 'for' over a range."),
    ast.SetComp: ("set comprehension", "write an explicit 'for' over a range."),
    ast.DictComp: ("dict comprehension", "write an explicit 'for' over a range."),
    ast.GeneratorExp: ("generator expression", "write an explicit 'for' over a range."),
    ast.Lambda: ("lambda", "define a function with '@dt.func' and call it."),
    ast.Dict: ("dict display", "use separate locals, or a vector."),
    ast.Set: ("set display", "use separate locals, or a vector."),
    ast.List: ("list display", "use 'ti.Vector([...])' for a small vector of numbers."),
    ast.Slice: ("slice", "write the components one by one: 'ti.Vector([v[0], v[1]])'."),
    ast.Starred: ("starred expression", "write the arguments one by one."),
    ast.JoinedStr: ("f-string", "kernels have no text; print from Python after the launch."),
    ast.NamedExpr: ("assignment expression", "assign on a line of its own before."),
    ast.Await: ("'await'", "kernels are not asynchronous."),
    ast.Yield: ("'yield'", "store the values in a field."),
    ast.YieldFrom: ("'yield from'", "store the values in a field."),
    ast.While: ("'while' loop", "write 'for i in range(n)' with an 'if' inside."),
    ast.Break: ("'break'", "guard the rest of the body with 'if'."),
    ast.Continue: ("'continue'", "guard the rest of the body with 'if'."),
    ast.Try: ("'try'", "kernels raise no exceptions; test the condition with 'if'."),
    ast.Raise: ("'raise'", "kernels raise no exceptions; store a flag in a field."),
    ast.Assert: ("'assert'", "check from Python after the launch."),
    ast.With: ("'with' block", "open it in Python around the launch."),
    ast.Delete: ("'del'", "leave it out; locals end with their block."),
    ast.Global: ("'global'", "store the value in a field."),
    ast.Nonlocal: ("'nonlocal'", "store the value in a field."),
    ast.Import: ("'import' in a kernel", "import at the top of the file."),
    ast.ImportFrom: ("'import' in a kernel", "import at the top of the file."),
    ast.FunctionDef: ("nested function", "define it outside with '@dt.func'."),
    ast.AsyncFunctionDef: ("nested function", "define it outside with '@dt.func'."),
    ast.AsyncFor: ("'async for'", "kernels are not asynchronous."),
    ast.AsyncWith: ("'async with'", "kernels are not asynchronous."),
    ast.ClassDef: ("nested class", "define it outside the kernel."),
    ast.Match: ("'match'", "use 'if' and 'elif'."),
}
