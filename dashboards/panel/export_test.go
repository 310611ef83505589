package panel

// Steps is steps, for limits that no rule has.
var Steps = steps
