package workloads

// NewWithServers is New for other workloads than the platform's own.
var NewWithServers = newWithServers
