"""A gate's checks as JUnit XML, which build servers show: a test case for each rule and run."""

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from robogaze.comparison import GateCheck
from robogaze.reporting.wording import printable


def junit(checks: Sequence[GateCheck]) -> str:
    """The document; a rule that stands twice makes two cases of one name."""
    failed = str(sum(not one.passed for one in checks))
    counts = {"tests": str(len(checks)), "failures": failed, "errors": "0", "skipped": "0"}
    suites = Element("testsuites", name="robogaze compare", attrib=counts)
    suite = SubElement(suites, "testsuite", name="gate", attrib=counts)
    for one in checks:
        case = SubElement(suite, "testcase", classname=f"gate.{printable(one.run)}", name=one.rule, time="0")
        if one.passed:
            SubElement(case, "system-out").text = printable(one.message)
        else:
            SubElement(case, "failure", message=printable(one.message), type="gate")
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
