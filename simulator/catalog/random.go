package catalog

import (
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
)

// randomTypes lists the resource types of the random package.
func randomTypes() []Type {
	return []Type{
		typ(random.RandomPasswordArgs{}, random.RandomPasswordState{}),
		typ(random.RandomIdArgs{}, random.RandomIdState{}),
	}
}
