package controlnode

// UserDataAt renders for a machine whose root is a folder.
//
//nolint:gochecknoglobals // seam for the tests of the boot script
var UserDataAt = userDataAt
