// Command emr-observatory is the Pulumi program that `pulumi up` runs.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/stacks"
)

func main() { pulumi.Run(stacks.Program) }
