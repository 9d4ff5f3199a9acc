"""What schemathesis is told about the reference server: which agents to call, and to name no address but this machine's.

AGENTS: the agents to call. AVOIDED: agents that one of them is to be called for. Both are lists of ids with commas.
"""

import os
import zlib

import schemathesis

ENTRYPOINTS = ["answer", "answer_stream"]
AGENTS = os.environ["AGENTS"].split(",")
AVOIDED = set(os.environ["AVOIDED"].split(","))
# Nothing listens here: deliveries are refused at once and never leave the machine.
RECEIVER = "http://127.0.0.1:9/"


@schemathesis.hook
def before_call(context, case, kwargs):
    number = number_of(case)
    choose(case.path_parameters, "agent_id", AGENTS, number)
    choose(case.path_parameters, "entrypoint_tag", ENTRYPOINTS, number)
    if isinstance(case.body, dict):
        for field in ("url", "webhook_url"):
            if is_web_address(case.body.get(field)):
                case.body[field] = RECEIVER


def number_of(case):
    """A number that is the same for the same case, in every run."""
    parts = [case.path_parameters, case.query, case.body]
    text = repr([part for part in parts if isinstance(part, (dict, list, str))])
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def choose(parameters, name, known, number):
    """Puts a known id for an avoided one, and for the generated one in three cases of four."""
    generated = parameters.get(name) if isinstance(parameters, dict) else None
    if isinstance(generated, str) and (generated in AVOIDED or number % 4 > 0):
        parameters[name] = known[number // 4 % len(known)]


def is_web_address(value):
    """Also where a URL parser would first have to drop white space."""
    return isinstance(value, str) and "".join(value.split()).lower().startswith("http")
