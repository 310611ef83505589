package status

import (
	"context"
	"net/http"
)

// HandlerOf serves a given status.
func HandlerOf(s Status, config Config, password string) http.Handler {
	return server{config: config, read: func(context.Context) Status { return s }}.handler(password)
}
