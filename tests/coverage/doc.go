// Package coverage answers, sentence by sentence, the documents in which users wrote what
// they want of the platform. Its test checks that each answer has what its state asks for,
// and that cited files, sections, panels and tests exist; it renders
// docs/reference/coverage.md.
package coverage
