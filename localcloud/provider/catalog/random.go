package catalog

import (
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
)

// randomTypes gives the resource types of the random package.
func randomTypes() map[string]Type {
	return map[string]Type{
		"random:index/randomPassword:RandomPassword": typ(random.RandomPasswordArgs{}, random.RandomPasswordState{}),
		"random:index/randomId:RandomId":             typ(random.RandomIdArgs{}, random.RandomIdState{}),
		"random:index/randomString:RandomString":     typ(random.RandomStringArgs{}, random.RandomStringState{}),
		"random:index/randomPet:RandomPet":           typ(random.RandomPetArgs{}, random.RandomPetState{}),
		"random:index/randomInteger:RandomInteger":   typ(random.RandomIntegerArgs{}, random.RandomIntegerState{}),
		"random:index/randomUuid:RandomUuid":         typ(random.RandomUuidArgs{}, random.RandomUuidState{}),
		"random:index/randomBytes:RandomBytes":       typ(random.RandomBytesArgs{}, random.RandomBytesState{}),
	}
}
