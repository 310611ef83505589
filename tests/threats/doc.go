// Package threats lists who could read, flood or stop what is not theirs: the attack, the answer
// to it, and the test that makes the attack. The list is rendered into docs/reference/threats.md.
package threats
