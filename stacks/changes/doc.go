// Package changes reads a preview of the real engine in an operator's words:
// what is updated in place, what restarts, what is replaced and what goes, and
// which of it holds something that would be lost. A Guard refuses a plan that
// loses such a thing without anybody having said so.
//
// It reads plans only: it decides nothing about resources, which is for the
// engine and the providers, and applies nothing.
package changes
