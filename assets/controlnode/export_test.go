package controlnode

// UserDataAt renders for a machine whose root is a folder.
var UserDataAt = userDataAt
