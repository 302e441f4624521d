"""Documents that an agent reads during a play."""

import re

from robogaze.interactive.environments.base import Documents, EnvironmentFault, Observation
from robogaze.interactive.play_decisions import Tool
from robogaze.interactive.play_trace import cut

_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)(-(?P<last>\d+))?")


async def read_document(documents: Documents, tool: Tool, wanted: str, most: int) -> Observation | EnvironmentFault:
    """The result of a tool as a reply without a state, cut to `most` characters.

    Raises EnvironmentFault if the environment cannot be reached; any other fault is returned.
    """
    try:
        text = await _found(documents, tool, wanted)
    except EnvironmentFault as fault:
        if fault.kind == "unreachable":
            raise
        return fault
    return Observation(message=cut(text, most), state={}, turn=None, finished=False)


async def _found(documents: Documents, tool: Tool, wanted: str) -> str:
    if tool == "read_log":
        return await documents.debug_log()
    if tool == "search_documents":
        lines = await documents.search(wanted)
        return "\n".join(f"{line.path}:{line.line}: {line.text}" for line in lines) or "no line contains it"
    part = _LINES.fullmatch(wanted)
    if part is None:
        return await documents.read(wanted)
    return await documents.read(part["path"], int(part["first"]), int(part["last"] or part["first"]))
