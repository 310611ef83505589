package testenv

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// validator reads a service, an operation and a JSON list of inputs, and prints what AWS' own model says of each. It
// refuses unknown members and wrong types, and knows few limits.
const validator = `
import json, sys
import botocore.session, botocore.validate
service, operation = sys.argv[1:]
shape = botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape
reports = [botocore.validate.ParamValidator().validate(v, shape) for v in json.load(sys.stdin)]
print(json.dumps([r.generate_report() if r.has_errors() else "" for r in reports]))
`

// RequireInputs fails the test unless AWS' own model takes each input of an operation, such as emr and RunJobFlow. An
// input is JSON.
func RequireInputs(t testing.TB, service, operation string, inputs ...string) {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with boto3")
	command := exec.CommandContext(t.Context(), python, "-c", validator, service, operation)
	command.Stdin, command.Stderr = strings.NewReader("["+strings.Join(inputs, ",")+"]"), os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("validate %d inputs of %s: %v", len(inputs), operation, err)
	}
	var reports []string
	if err := json.Unmarshal(out, &reports); err != nil || len(reports) != len(inputs) {
		t.Fatalf("validate %d inputs of %s: %d reports, %v", len(inputs), operation, len(reports), err)
	}
	for i, report := range reports {
		if report != "" {
			t.Errorf("%s: %s: %s", operation, report, inputs[i])
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}
