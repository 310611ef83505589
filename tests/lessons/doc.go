// Package lessons keeps account of what platforms of this kind got wrong
// before, and of the tests that would catch it here. Its own test holds that
// each of them is still there, and renders docs/reference/lessons.md.
package lessons
