package node

// BootstrapWith is Bootstrap for other parts than the platform's own.
var BootstrapWith = bootstrapWith
