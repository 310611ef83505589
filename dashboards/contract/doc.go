// Package contract is the one table of what the platform emits: metrics, log
// fields, spans and profile types, each with its source. Dashboards, alerts,
// recipes and the lake may name only what stands here, and a run of the local
// cloud proves that each entry is really emitted.
//
// It is not a configuration of the collectors: they decide how a signal gets
// to the stores, this table says under which name it arrives.
package contract
