package history

// Spare is the default of Options.Spare.
var Spare = spare

// Shares reports whether another request could be sent now.
func (c *Client) Shares() bool {
	if !c.slots.TryAcquire(1) {
		return false
	}
	c.slots.Release(1)
	return true
}
