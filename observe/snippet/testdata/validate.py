"""Reads what `observe print` prints for a tool and prints the part of a RunJobFlow
request that it gives, as JSON, after botocore has validated the whole request."""

import json
import sys

import botocore.session
import botocore.validate

tool, text = sys.argv[1], sys.stdin.read()
if tool == "airflow":
    names = {}
    exec(text, names)
    request = names["job_flow_overrides"]
elif tool == "stepfunctions":
    state = json.loads(text)
    assert state["Type"] == "Task"
    request = state["Parameters"]
elif tool == "cli":
    words = text.rstrip("\0").split("\0")
    assert words[:2] == ["emr", "create-cluster"], words
    at = words.index("--tags")
    words, pairs = words[:at], words[at + 1 :]
    options = dict(zip(words[2::2], words[3::2]))
    request = {
        "Instances": json.loads(options.pop("--ec2-attributes")),
        "BootstrapActions": [
            {"Name": action.pop("Name"), "ScriptBootstrapAction": action}
            for action in json.loads(options.pop("--bootstrap-actions"))
        ],
        "Configurations": json.loads(options.pop("--configurations")),
        "Tags": [dict(zip(("Key", "Value"), pair.split("=", 1))) for pair in pairs],
    }
    assert not options, options

model = botocore.session.get_session().get_service_model("emr").operation_model("RunJobFlow")
report = botocore.validate.ParamValidator().validate({"Name": "etl", **request}, model.input_shape)
if report.has_errors():
    sys.exit(report.generate_report())
print(json.dumps(request))
