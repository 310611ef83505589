package status

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// prefersPage reports whether a client prefers a page over JSON: it names text/html,
// as browsers do, with at least the quality of application/json. Programs that accept
// anything get JSON.
func prefersPage(header http.Header) bool {
	page, data := 0.0, 0.0
	for _, one := range strings.Split(strings.Join(header.Values("Accept"), ","), ",") {
		kind, parameters, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, given := parameters["q"]; given {
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		switch kind {
		case "text/html":
			page = max(page, quality)
		case "application/json":
			data = max(data, quality)
		}
	}
	return page > 0 && page >= data
}
