package rules

// Running returns the signal of what still runs, with its unit and limit: that of Live, or
// else the rule's own.
func (r Rule) Running() Live {
	if r.Live != nil {
		return *r.Live
	}
	return Live{Signal: r.Signal, Unit: r.Unit, Limit: r.Limit, Sources: r.Sources}
}
