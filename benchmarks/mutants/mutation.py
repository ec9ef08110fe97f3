"""The faults of one source file: comparisons, boundaries, numbers, conditions, operators, returns, statements.

Left out, because no test should fail for them: docstrings, annotations, decorators, `__all__` and `__slots__`, wording
(text counts only where it is compared, looked up or matched, and an f-string never), log lines, `assert`, what stands
under `if TYPE_CHECKING`, and the message of a `raise`.
"""

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_CALCULATED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitAnd,
}
_OPPOSITES: Final = ("any all", "min max", "startswith endswith", "lower upper", "find rfind", "partition rpartition")
_PAIRS: Final = [(left, right) for left, right in map(str.split, _OPPOSITES)]
_RENAMED: Final = {**dict(_PAIRS), **{right: left for left, right in _PAIRS}}
_TYPING: Final = frozenset(["cast", "TypeVar", "NewType", "ParamSpec", "assert_never", "reveal_type", "overload"])
_LOGS: Final = frozenset(["log", "logger", "_log", "_logger", "logging", "warnings"])
_NOT_CODE: Final = frozenset(["returns", "annotation", "decorator_list", "bases", "keywords_of_class", "type_params"])


class Mutation(NamedTuple):
    """One fault: where it is, how it reads, and how it is put into the tree that it was found in."""

    path: Path
    line: int
    first: int
    """The first and the last line of the statement, or of the head of a block, that it is in."""
    last: int
    function: str
    """The qualified name of the outermost function around it; empty for what runs when the module is imported."""
    before: str
    after: str
    repeated: int
    """How many equal changes the function has before this one."""
    tree: ast.Module
    parent: ast.AST
    field: str
    at: int | None
    new: object

    @property
    def id(self) -> str:
        """The same for the same change of the same function, wherever the lines have moved to."""
        count = f" #{self.repeated + 1}" if self.repeated else ""
        return f"{self.path.as_posix()}::{self.function or '<module>'}: {self.before} → {self.after}{count}"

    def order(self, seed: int) -> str:
        """Return a sort key that draws a sample, the same one for the same seed however the code around changes."""
        return hashlib.sha256(f"{seed} {self.id}".encode()).hexdigest()

    def span(self, root: Path) -> frozenset[tuple[str, int]]:
        """Return its lines as the tracer names them."""
        path = str((root / self.path).resolve())
        return frozenset((path, line) for line in range(self.first, self.last + 1))

    def apply(self) -> ast.Module:
        """Change the tree for good: this is called in a process that ends with the trial."""
        if self.at is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.at] = self.new
        return ast.fix_missing_locations(self.tree)


def find_mutations(path: Path, source: str) -> list[Mutation]:
    """Return all faults of a file, in the order of its lines."""
    return list(_Finder(path, ast.parse(source)).find())


class _Place(NamedTuple):
    """Where the finder is: the child's place in its parent, and what is around it."""

    parent: ast.AST
    field: str
    at: int | None
    function: str
    names: tuple[str, ...]
    first: int
    last: int
    compared: bool = False
    """Whether text is a value here, and not wording."""


class _Finder:
    def __init__(self, path: Path, tree: ast.Module) -> None:
        self._path = path
        self._tree = tree
        self._seen: dict[tuple[str, str, str], int] = {}

    def find(self) -> Iterator[Mutation]:
        yield from self._children(self._tree, _Place(self._tree, "", None, "", (), 0, 0))

    def _children(self, node: ast.AST, place: _Place) -> Iterator[Mutation]:
        for name, value in ast.iter_fields(node):
            if name in _NOT_CODE or (name == "keywords" and isinstance(node, ast.ClassDef)):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    compared = place.compared or _is_value(node, name, index)
                    yield from self._visit(child, place._replace(parent=node, field=name, at=index, compared=compared))

    def _visit(self, node: ast.AST, place: _Place) -> Iterator[Mutation]:
        if _is_left_out(node):
            return
        if isinstance(node, ast.stmt):
            place = _of_statement(node, place)
        before, after = _texts(node)
        for new in _changes(node, place):
            yield self._mutation(node, new, place, before, after)
        if isinstance(node, ast.Raise):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self._definition(node, place)
        else:
            yield from self._children(node, place._replace(compared=place.compared and _is_display(node)))

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, place: _Place
    ) -> Iterator[Mutation]:
        names = (*place.names, node.name)
        if isinstance(node, ast.ClassDef):
            yield from self._children(node, place._replace(names=names))
            return
        # Defaults are computed where the function is defined.
        yield from self._children(node.args, place)
        inner = place._replace(
            function=place.function or ".".join(names), names=(*names, "<locals>"), parent=node, field="body"
        )
        for index, child in enumerate(node.body):
            yield from self._visit(child, inner._replace(at=index))

    def _mutation(self, node: ast.AST, new: ast.AST, place: _Place, before: str, after: str) -> Mutation:
        after = after or _text(new)
        key = (place.function, before, after)
        repeated = self._seen[key] = self._seen.get(key, -1) + 1
        line = getattr(node, "lineno", place.first)
        return Mutation(
            self._path, line, place.first, place.last, place.function, before, after, repeated,
            self._tree, place.parent, place.field, place.at, new,
        )  # fmt: skip


def _of_statement(node: ast.stmt, place: _Place) -> _Place:
    """A simple statement spans its lines, a block those of its head."""
    last = node.end_lineno or node.lineno
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if body:
        first_inside = getattr(body[0], "lineno", None) or body[0].pattern.lineno
        last = max(node.lineno, first_inside - 1)
    return place._replace(first=node.lineno, last=last)


def _is_left_out(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in {"__all__", "__slots__", "__match_args__"}
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _TYPING
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=name)))
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
        ):
            return name in _LOGS
        case ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case _:
            return False


def _is_value(node: ast.AST, field: str, index: int | None) -> bool:
    """Whether text in this place is compared, looked up or matched."""
    match node:
        case ast.Compare() | ast.MatchValue():
            return True
        case ast.Subscript():
            return field == "slice"
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop" | "startswith" | "endswith" | "removeprefix" | "removesuffix")
        ):
            return field == "args" and index == 0
        case _:
            return False


def _is_display(node: ast.AST) -> bool:
    """Whether the parts of this node are compared when it is: `kind in {"a", "b"}`."""
    return isinstance(node, ast.Set | ast.Tuple | ast.List)


def _changes(node: ast.AST, place: _Place) -> Iterator[ast.AST]:
    """Return what may stand in the place of this node."""
    match node:
        case ast.Compare():
            for index, op in enumerate(node.ops):
                yield ast.Compare(
                    node.left, [*node.ops[:index], _COMPARED[type(op)](), *node.ops[index + 1 :]], node.comparators
                )
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.BinOp() if type(node.op) in _CALCULATED and not (_is_text(node.left) or _is_text(node.right)):
            yield ast.BinOp(node.left, _CALCULATED[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not()) | ast.UnaryOp(op=ast.USub(), operand=ast.Name() | ast.Call() | ast.Attribute()):
            yield node.operand
        case ast.Constant():
            yield from _other_constant(node, place)
        case ast.Name(id=name) if name in _RENAMED and place.field == "func":
            yield ast.Name(_RENAMED[name], ast.Load())
        case ast.Attribute(attr=name) if name in _RENAMED and place.field == "func":
            yield ast.Attribute(node.value, _RENAMED[name], ast.Load())
        case ast.match_case() if not _is_wildcard(node.pattern):
            yield ast.match_case(node.pattern, ast.Constant(value=False), node.body)
        case ast.stmt():
            yield from _other_statement(node)
        case _:
            pass
    if _is_condition(place) and not isinstance(
        node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant | ast.NamedExpr
    ):
        yield ast.UnaryOp(ast.Not(), node)  # type: ignore[arg-type]  # A condition is an expression.


def _other_constant(node: ast.Constant, place: _Place) -> Iterator[ast.expr]:
    match node.value:
        case bool(value):
            yield ast.Constant(value=not value)
        case int(value) | float(value):
            yield ast.Constant(value=value + 1)
        case str(value) if place.compared:
            yield ast.Constant(value=f"XX{value}XX")
        case bytes(value) if place.compared:
            yield ast.Constant(value=b"XX" + value + b"XX")
        case _:
            pass


def _other_statement(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(value=None))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.AugAssign():
            if type(node.op) in _CALCULATED and not _is_text(node.value):
                yield ast.AugAssign(node.target, _CALCULATED[type(node.op)](), node.value)
            yield ast.Pass()
        case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom()) | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case (
            ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
            | ast.AnnAssign(target=ast.Attribute(), value=ast.expr())
        ):
            yield ast.Pass()
        case _:
            pass


def _is_condition(place: _Place) -> bool:
    match place.parent:
        case ast.If() | ast.While() | ast.IfExp():
            return place.field == "test"
        case ast.comprehension():
            return place.field == "ifs"
        case ast.match_case():
            return place.field == "guard"
        case _:
            return False


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _is_wildcard(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _texts(node: ast.AST) -> tuple[str, str]:
    """How the node reads; a case that is dropped reads so, too."""
    if isinstance(node, ast.match_case):
        return f"case {ast.unparse(node.pattern)}:", "(case dropped)"
    return (_text(node), "") if isinstance(node, ast.expr | ast.stmt) else ("", "")


def _text(node: ast.AST) -> str:
    """The first line of what the node reads like."""
    text = ast.unparse(ast.fix_missing_locations(node)).strip()
    return text.partition("\n")[0]
