// Package limit decides what of a cluster's telemetry is stored. Any job can send without end,
// under any name; each cluster has a share that others cannot use up.
//
// A sender is known by its address, which it cannot choose, and belongs to the cluster that EMR
// says (Limiter.SetSenders); until EMR has said so, it has a share of its own. What is beyond the
// share is left out of a request and counted by cluster; everything else passes as it came.
//
// Shares are of an hour, and unused ones remain for as long: after an outage, senders and the
// collector deliver at once what they have kept, and that is no flood.
//
// It is not authentication, and holds nothing back: a sender learns only of refused profiles.
package limit
