// Program pulumi-resource-kubernetes is pulumi-kubernetes' own provider plugin. Its
// module holds no main package that builds from the module proxy: that one embeds a
// schema which upstream generates and does not commit. The engine asks a plugin for
// its schema only to generate code or to run a YAML program, so this one has none.
package main

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"

// release is set by the linker.
var release string

func main() { provider.Serve("kubernetes", release, []byte("{}"), []byte("{}")) }
